// Matrix products and their epilogues. A part of impl.h.
#pragma once

#include "transformer/kernels/kernels.h"
#include "transformer/kernels/vector.h"

#if defined(VERBATIM_NEON)
#include "transformer/kernels/gemm_neon.h"
#endif

namespace verbatim::transformer {
namespace VERBATIM_KERNELS {
namespace {

constexpr int kPanelVectors = static_cast<int>(kPanelOutputs) / kLanes;

// Applies the epilogue to outputs [first, first + size) of a row whose product is in `tile`.
[[gnu::noinline]] void finish_row(const GemmCall& call, std::size_t row, std::size_t first, std::size_t size,
                                  const float* tile) {
  const Epilogue& epilogue = call.epilogue;
  const std::size_t at = row * call.ld + first;
  for (std::size_t i = 0; i < size; i += kLanes) {
    const std::size_t lanes = size - i < kLanes ? size - i : kLanes;
    float bias[kLanes] = {}, gate[kLanes], residual[kLanes] = {}, out[kLanes];
    const bool whole = lanes == kLanes;
    Vf value = load(tile + i);
    if (whole) {
      if (epilogue.bias) value += load(epilogue.bias + first + i);
      value = activate(value, epilogue.activation);
      if (epilogue.gate) value *= load(epilogue.gate + at + i);
      if (epilogue.residual) value += load(epilogue.residual + at + i);
      store(call.y + at + i, value);
      continue;
    }
    for (std::size_t j = 0; j < lanes; ++j) {
      bias[j] = epilogue.bias ? epilogue.bias[first + i + j] : 0.0f;
      gate[j] = epilogue.gate ? epilogue.gate[at + i + j] : 1.0f;
      residual[j] = epilogue.residual ? epilogue.residual[at + i + j] : 0.0f;
    }
    for (std::size_t j = lanes; j < kLanes; ++j) gate[j] = 1.0f;
    store(out, activate(value + load(bias), epilogue.activation) * load(gate) + load(residual));
    for (std::size_t j = 0; j < lanes; ++j) call.y[at + i + j] = out[j];
  }
}

// The most frequent case of finish_row, done in registers.
template <int V>
VERBATIM_INLINE void finish_plain(const GemmCall& call, std::size_t row, std::size_t first, const Vf (&products)[V]) {
  float* y = call.y + row * call.ld + first;
  const float* bias = call.epilogue.bias;
  const float* residual = call.epilogue.residual;
  for (int v = 0; v < V; ++v) {
    Vf value = products[v];
    if (bias) value += load(bias + first + static_cast<std::size_t>(v * kLanes));
    if (residual) value += load(residual + row * call.ld + first + static_cast<std::size_t>(v * kLanes));
    store(y + v * kLanes, value);
  }
}

// Whether finish_plain can finish a tile of `width` outputs.
VERBATIM_INLINE bool is_plain(const GemmCall& call, std::size_t first, std::size_t width) {
  return call.epilogue.activation < 0 && !call.epilogue.gate && first + width <= call.outputs;
}

template <int V>
VERBATIM_INLINE void finish(const GemmCall& call, bool plain, std::size_t row, std::size_t first,
                            const Vf (&products)[V]) {
  if (plain) return finish_plain(call, row, first, products);
  float tile[V * kLanes];
  for (int v = 0; v < V; ++v) store(tile + v * kLanes, products[v]);
  const std::size_t left = call.outputs - first;
  finish_row(call, row, first, left < V * kLanes ? left : V * kLanes, tile);
}

// Sizes of blocks of rows whose sums fit the vector registers beside the weights: there are 32 registers with AVX-512
// and NEON, 16 with AVX2. Vectors of a panel that are summed at a time. And the most rows for which two panels are
// computed at a time.
template <typename W>
struct Blocks {
#if VERBATIM_VECTOR_BYTES == 64
  static constexpr int kLarge = 12, kMedium = 8, kSmall = 4, kPair = 2, kVectors = kPanelVectors;
  static constexpr std::size_t kRowsOfTwoPanels = 4;
#elif VERBATIM_VECTOR_BYTES == 32
  static constexpr int kLarge = 3, kMedium = 3, kSmall = 2, kPair = 1, kVectors = kPanelVectors;
  static constexpr std::size_t kRowsOfTwoPanels = 1;
#elif defined(VERBATIM_NEON)
  static constexpr int kLarge = 6, kMedium = 4, kSmall = 2, kPair = 1, kVectors = kPanelVectors / 2;
  static constexpr std::size_t kRowsOfTwoPanels = 0;
#else
  static constexpr int kLarge = 1, kMedium = 1, kSmall = 1, kPair = 1, kVectors = kPanelVectors;
  static constexpr std::size_t kRowsOfTwoPanels = 0;
#endif
};
#if VERBATIM_VECTOR_BYTES == 32 && VERBATIM_VNNI
// With four vectors a sum would not fit the registers and wait for memory in each step.
template <>
struct Blocks<std::uint8_t> {
  static constexpr int kLarge = 6, kMedium = 3, kSmall = 2, kPair = 1, kVectors = 2;
  static constexpr std::size_t kRowsOfTwoPanels = 1;
};
#elif defined(VERBATIM_NEON) && !VERBATIM_VNNI && !defined(__ARM_FEATURE_DOTPROD)
// A sum is in two registers.
template <>
struct Blocks<std::uint8_t> {
  static constexpr int kLarge = 4, kMedium = 4, kSmall = 2, kPair = 1, kVectors = kPanelVectors / 4;
  static constexpr std::size_t kRowsOfTwoPanels = 0;
};
#endif

// Vectors of a panel that a tile of M rows sums at a time: all where they fit, so that memory is read in order.
template <int M, typename W>
constexpr int kTileVectors = Blocks<W>::kVectors;
#if defined(VERBATIM_NEON)
template <typename W>
constexpr int kTileVectors<1, W> = kPanelVectors;
template <typename W>
constexpr int kTileVectors<2, W> = 2 * Blocks<W>::kVectors;
#endif

// The part [first, last) of the depth. Sums of the parts before it are in sums[rows][kPanelOutputs], and so are this
// part's for the next one.
struct DepthPart {
  std::size_t first, last;
  float* sums;
};

// M rows times P neighbouring panels. Each output is one chain of fused multiply-adds over the depth, in one part or
// several.
template <int M, int P, typename W>
VERBATIM_INLINE void float_tile(const GemmCall& call, std::size_t row, std::size_t panel, const DepthPart& of_depth) {
  constexpr int kPart = kTileVectors<M, W>, kVectors = P * kPart;
  static_assert(P == 1 || kPart == kPanelVectors);
  const std::size_t depth = call.depth;
  const std::size_t ahead = P * depth * kPanelOutputs * sizeof(W);
  const float* x = static_cast<const float*>(call.x) + row * depth;
  const W* w = static_cast<const W*>(call.weights) + panel * depth * kPanelOutputs;
  for (std::size_t part = 0; part < kPanelOutputs; part += kPart * kLanes) {
    const std::size_t first = panel * kPanelOutputs + part;
    if (part > 0 && first >= call.outputs) return;
    Vf acc[M][kVectors] = {};
    float* const sums = of_depth.sums == nullptr ? nullptr : of_depth.sums + row * kPanelOutputs + part;
    if (of_depth.first > 0) {
      for (int m = 0; m < M; ++m) {
        for (int v = 0; v < kVectors; ++v) acc[m][v] = load(sums + m * kPanelOutputs + v * kLanes);
      }
    }
    for (std::size_t k = of_depth.first; k < of_depth.last; ++k) {
      Vf column[kVectors];
      for (int p = 0; p < P; ++p) {
        const W* at = w + (static_cast<std::size_t>(p) * depth + k) * kPanelOutputs + part;
        for (std::size_t line = 0; line < kPart * kLanes * sizeof(W); line += 64) prefetch(at, ahead + line);
        for (int v = 0; v < kPart; ++v) column[p * kPart + v] = load(at + v * kLanes);
      }
      for (int m = 0; m < M; ++m) {
        const float value = x[static_cast<std::size_t>(m) * depth + k];
        for (int v = 0; v < kVectors; ++v) acc[m][v] += column[v] * value;
      }
    }
    if (of_depth.last < depth) {
      for (int m = 0; m < M; ++m) {
        for (int v = 0; v < kVectors; ++v) store(sums + m * kPanelOutputs + v * kLanes, acc[m][v]);
      }
      continue;
    }
    const bool plain = is_plain(call, first, kVectors * kLanes);
    for (int m = 0; m < M; ++m) finish(call, plain, row + static_cast<std::size_t>(m), first, acc[m]);
  }
}

// How much of the 128 that was added to the weights remains in the result of dot4's instruction.
constexpr std::uint32_t kWeightOffset = VERBATIM_VNNI ? 128 : 0;

// Sums of dot4 without it. `total`: the sum of the other factors. Modulo 2^32, since a row that holds no numbers has
// any sum.
VERBATIM_INLINE Vi without_offset(Vi sums, std::int32_t total) {
  return reinterpret_cast<Vi>(reinterpret_cast<Vu>(sums) - static_cast<std::uint32_t>(total) * kWeightOffset);
}

// Finishes V vectors of a panel, from vector `part` on.
template <int V>
VERBATIM_INLINE void finish_int8(const GemmCall& call, std::size_t row, std::size_t panel, int part,
                                 const std::int8_t* x, const Vi (&acc)[V]) {
  const std::size_t depth = quantized_depth(call.depth);
  float factor;
  std::int32_t total;
  __builtin_memcpy(&factor, x + depth, 4);
  __builtin_memcpy(&total, x + depth + 4, 4);
  const std::size_t first = panel * kPanelOutputs + static_cast<std::size_t>(part * kLanes);
  if (first >= call.outputs) return;
  Vf products[V];
  for (int v = 0; v < V; ++v) {
    const Vf sums = __builtin_convertvector(without_offset(acc[v], total), Vf);
    products[v] = sums * (load(call.weight_factors + first + static_cast<std::size_t>(v * kLanes)) * factor);
  }
  finish(call, is_plain(call, first, V * kLanes), row, first, products);
}

// acc[i] += sum over 4 of w[4 i + j] * x[j]; w has 128 added.
VERBATIM_INLINE Vi dot4(Vi acc, const std::uint8_t* w, const std::int8_t* x) {
  std::int32_t four;
  __builtin_memcpy(&four, x, 4);
#if VERBATIM_VNNI
  return add_products(acc, load_words(w), Vi{} + four);
#elif defined(VERBATIM_NEON)
  return add_signed_products(acc, load_words(w) ^ static_cast<std::int32_t>(0x80808080u), Vi{} + four);
#elif VERBATIM_VECTOR_BYTES == 32
  // |x| * (w with the sign of x) instead of w * x: a pair of products then stays below 2^15, where w * x would
  // saturate.
  const __m256i quad = _mm256_set1_epi32(four);
  const __m256i weights =
      _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w)), _mm256_set1_epi8(-128));
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(quad), _mm256_sign_epi8(weights, quad));
  return acc + reinterpret_cast<Vi>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#else
  for (int i = 0; i < kLanes; ++i) {
    for (int j = 0; j < 4; ++j) acc[i] += (static_cast<std::int32_t>(w[4 * i + j]) - 128) * x[j];
  }
  return acc;
#endif
}

template <int M, int P>
VERBATIM_INLINE void int8_tile(const GemmCall& call, std::size_t row, std::size_t panel) {
  constexpr int kVectors = kTileVectors<M, std::uint8_t>;
  const std::size_t depth = quantized_depth(call.depth);
  const std::size_t ahead = P * depth * kPanelOutputs;
  const std::size_t stride = quantized_row_bytes(call.depth);
  const auto* x = static_cast<const std::int8_t*>(call.x) + row * stride;
  const auto* w = static_cast<const std::uint8_t*>(call.weights) + panel * depth * kPanelOutputs;
  for (int part = 0; part < kPanelVectors; part += kVectors) {
    Vi acc[M][P][kVectors] = {};
    std::size_t k = 0;
#if defined(VERBATIM_NEON)
    static_assert(P == 1);
    k = sum_steps(reinterpret_cast<Vi(&)[M][kVectors]>(acc), w + part * kLanes * 4, QuantizedRows<M>{x, stride}, depth,
                  ahead);
#endif
    for (; k < depth; k += 4) {
      for (int p = 0; p < P; ++p) {
        const std::uint8_t* at = w + (static_cast<std::size_t>(p) * depth + k) * kPanelOutputs + part * kLanes * 4;
        for (std::size_t line = 0; line < kVectors * VERBATIM_VECTOR_BYTES; line += 64) prefetch(at, ahead + line);
        for (int m = 0; m < M; ++m) {
          for (int v = 0; v < kVectors; ++v) {
            acc[m][p][v] = dot4(acc[m][p][v], at + v * kLanes * 4, x + static_cast<std::size_t>(m) * stride + k);
          }
        }
      }
    }
    for (int p = 0; p < P; ++p) {
      for (int m = 0; m < M; ++m) {
        finish_int8(call, row + static_cast<std::size_t>(m), panel + static_cast<std::size_t>(p), part,
                    x + static_cast<std::size_t>(m) * stride, acc[m][p]);
      }
    }
  }
}

template <int M, int P, typename W>
[[gnu::noinline]] void run_tile(const GemmCall& call, std::size_t row, std::size_t panel, const DepthPart& part) {
  if constexpr (sizeof(W) == 1) {
    int8_tile<M, P>(call, row, panel);
  } else {
    float_tile<M, P, W>(call, row, panel, part);
  }
}

template <int M, int P, typename W>
VERBATIM_INLINE void run_blocks(const GemmCall& call, std::size_t panel, std::size_t& row, const DepthPart& part) {
  for (; row + M <= call.rows; row += M) run_tile<M, P, W>(call, row, panel, part);
}

// All rows times P panels: the panels stay in the cache for all rows.
template <int P, typename W>
VERBATIM_INLINE void panels(const GemmCall& call, std::size_t panel, const DepthPart& part) {
  std::size_t row = 0;
  if constexpr (P == 1) {
    run_blocks<Blocks<W>::kLarge, P, W>(call, panel, row, part);
    run_blocks<Blocks<W>::kMedium, P, W>(call, panel, row, part);
  }
  if constexpr (P == 1 || Blocks<W>::kRowsOfTwoPanels >= Blocks<W>::kSmall) {
    run_blocks<Blocks<W>::kSmall, P, W>(call, panel, row, part);
  }
  run_blocks<Blocks<W>::kPair, P, W>(call, panel, row, part);
  run_blocks<1, P, W>(call, panel, row, part);
}

// All rows times all panels.
template <typename W>
VERBATIM_INLINE void multiply_rows(const GemmCall& call) {
  const DepthPart whole{0, call.depth, nullptr};
  std::size_t panel = call.first_panel;
  // With few rows the product is bound by memory: two streams of weights use more of the bandwidth.
  if constexpr (Blocks<W>::kRowsOfTwoPanels > 0) {
    if (call.rows <= Blocks<W>::kRowsOfTwoPanels) {
      for (; panel + 2 <= call.last_panel; panel += 2) panels<2, W>(call, panel, whole);
    }
  }
  for (; panel < call.last_panel; ++panel) panels<1, W>(call, panel, whole);
}

// The rows of a block stay in the second-level cache for all panels.
constexpr std::size_t kRowBlockBytes = 512 << 10;
// Deeper rows of floats are multiplied in parts, so that a block has more rows: the weights are read once for each
// block, and come from memory if there are many.
constexpr std::size_t kDepthPart = 2048;
constexpr std::size_t kDeepRows = kRowBlockBytes / sizeof(float) / kDepthPart;
// Panels whose sums are kept between two parts.
constexpr std::size_t kDeepPanels = 8;

// At most kDeepRows rows times all panels.
template <typename W>
VERBATIM_INLINE void multiply_deep_rows(const GemmCall& call) {
  float sums[kDeepPanels * kDeepRows * kPanelOutputs];
  for (std::size_t group = call.first_panel; group < call.last_panel; group += kDeepPanels) {
    const std::size_t end = group + kDeepPanels < call.last_panel ? group + kDeepPanels : call.last_panel;
    for (std::size_t first = 0; first < call.depth; first += kDepthPart) {
      const std::size_t last = call.depth - first < kDepthPart ? call.depth : first + kDepthPart;
      for (std::size_t panel = group; panel < end; ++panel) {
        panels<1, W>(call, panel, {first, last, sums + (panel - group) * kDeepRows * kPanelOutputs});
      }
    }
  }
}

// The call's rows [first, first + count).
VERBATIM_INLINE GemmCall row_block(const GemmCall& call, std::size_t first, std::size_t count, std::size_t row_bytes) {
  GemmCall block = call;
  block.rows = count;
  block.x = static_cast<const char*>(call.x) + first * row_bytes;
  block.y = call.y + first * call.ld;
  if (call.epilogue.gate) block.epilogue.gate = call.epilogue.gate + first * call.ld;
  if (call.epilogue.residual) block.epilogue.residual = call.epilogue.residual + first * call.ld;
  return block;
}

template <typename W>
VERBATIM_INLINE void gemm(const GemmCall& call) {
  const std::size_t row_bytes = sizeof(W) == 1 ? quantized_row_bytes(call.depth) : call.depth * sizeof(float);
  if (call.rows * row_bytes <= kRowBlockBytes) return multiply_rows<W>(call);
  const bool is_deep = sizeof(W) > 1 && call.depth > kDepthPart;
  const std::size_t tiles = (is_deep ? kDeepRows : kRowBlockBytes / row_bytes) / Blocks<W>::kLarge;
  const std::size_t most = (tiles == 0 ? 1 : tiles) * Blocks<W>::kLarge;
  for (std::size_t row = 0; row < call.rows; row += most) {
    const GemmCall block = row_block(call, row, call.rows - row < most ? call.rows - row : most, row_bytes);
    is_deep ? multiply_deep_rows<W>(block) : multiply_rows<W>(block);
  }
}

void gemm_float32(const GemmCall& call) { gemm<float>(call); }
void gemm_bfloat16(const GemmCall& call) { gemm<Brain>(call); }
void gemm_int8(const GemmCall& call) { gemm<std::uint8_t>(call); }

}  // namespace
}  // namespace VERBATIM_KERNELS
}  // namespace verbatim::transformer

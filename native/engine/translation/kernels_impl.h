// The kernels, written once in the compilers' portable vector types and compiled once per instruction set.
// The including file defines VERBATIM_KERNELS (a namespace) and VERBATIM_VECTOR_BYTES, and gives this file
// only headers without inline functions that other files share: code compiled for a newer processor must
// never be the copy that the linker keeps for everyone.
#include <cstddef>
#include <cstdint>

#include "translation/kernels.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#pragma GCC diagnostic ignored "-Wpsabi"
#if !defined(__clang__)
// GCC 12's own headers read undefined vectors on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace verbatim::translation {
namespace VERBATIM_KERNELS {
namespace {

constexpr int kLanes = VERBATIM_VECTOR_BYTES / 4;
constexpr int kPanelVectors = static_cast<int>(kPanelOutputs) / kLanes;

using Vf = float __attribute__((vector_size(VERBATIM_VECTOR_BYTES)));
using Vi = std::int32_t __attribute__((vector_size(VERBATIM_VECTOR_BYTES)));
using UnalignedVf = float __attribute__((vector_size(VERBATIM_VECTOR_BYTES), aligned(4), may_alias));

struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};

#define VERBATIM_INLINE [[gnu::always_inline]] inline

VERBATIM_INLINE Vf load(const float* p) { return *reinterpret_cast<const UnalignedVf*>(p); }
VERBATIM_INLINE void store(float* p, Vf v) { *reinterpret_cast<UnalignedVf*>(p) = v; }
VERBATIM_INLINE Vf splat(float value) { return Vf{} + value; }
VERBATIM_INLINE Vf vmax(Vf a, Vf b) { return a > b ? a : b; }
VERBATIM_INLINE Vf vmin(Vf a, Vf b) { return a < b ? a : b; }

VERBATIM_INLINE float sum(Vf v) {
  float total = 0.0f;
#if VERBATIM_VECTOR_BYTES == 64
  total = _mm512_reduce_add_ps(reinterpret_cast<__m512>(v));
#else
  for (int i = 0; i < kLanes; ++i) total += v[i];
#endif
  return total;
}

VERBATIM_INLINE float largest(Vf v) {
  float result = v[0];
#if VERBATIM_VECTOR_BYTES == 64
  result = _mm512_reduce_max_ps(reinterpret_cast<__m512>(v));
#else
  for (int i = 1; i < kLanes; ++i) result = v[i] > result ? v[i] : result;
#endif
  return result;
}

VERBATIM_INLINE bool any(Vi mask) {
#if VERBATIM_VECTOR_BYTES == 64
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask)) != 0;
#elif VERBATIM_VECTOR_BYTES == 32
  return _mm256_movemask_epi8(reinterpret_cast<__m256i>(mask)) != 0;
#else
  std::int32_t bits = 0;
  for (int i = 0; i < kLanes; ++i) bits |= mask[i];
  return bits != 0;
#endif
}

// exp(x) to about 2 units in the last place: 2^n * e^r with |r| <= ln(2) / 2 and a polynomial of degree 6.
VERBATIM_INLINE Vf vexp(Vf x) {
#if VERBATIM_VECTOR_BYTES == 64
  constexpr float kLeast = -110.0f;  // rounds to 0
#else
  constexpr float kLeast = -87.33f;
#endif
  const Vf in_range = vmin(vmax(x, splat(kLeast)), splat(88.72f));
  const Vf shifter = splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const Vf shifted = in_range * 1.44269504f + shifter;
  const Vf n = shifted - shifter;
  const Vf r = (in_range - n * 0.693359375f) + n * 2.12194440e-4f;
  Vf p = splat(1.3888889e-3f);
  p = p * r + 8.3333333e-3f;
  p = p * r + 4.1666667e-2f;
  p = p * r + 1.6666667e-1f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
#if VERBATIM_VECTOR_BYTES == 64
  return reinterpret_cast<Vf>(_mm512_scalef_ps(reinterpret_cast<__m512>(p), reinterpret_cast<__m512>(n)));
#else
  // 2^n in two factors, so that n = 128 does not overflow on the way.
  const Vi whole = __builtin_convertvector(n, Vi);
  const Vi half = whole >> 1;
  const Vf first = reinterpret_cast<Vf>((half + 127) << 23);
  const Vf second = reinterpret_cast<Vf>((whole - half + 127) << 23);
  const Vf result = p * first * second;
  return x < splat(kLeast) ? Vf{} : result;
#endif
}

VERBATIM_INLINE Vf vsigmoid(Vf x) { return 1.0f / (1.0f + vexp(-x)); }
VERBATIM_INLINE Vf vtanh(Vf x) { return 1.0f - 2.0f / (1.0f + vexp(2.0f * x)); }

// Abramowitz and Stegun 7.1.26: absolute error below 1.5e-7.
VERBATIM_INLINE Vf verf(Vf x) {
  const Vf magnitude = x < Vf{} ? -x : x;
  const Vf t = 1.0f / (1.0f + 0.3275911f * magnitude);
  Vf p = splat(1.061405429f);
  p = p * t - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  const Vf result = 1.0f - p * t * vexp(-magnitude * magnitude);
  return x < Vf{} ? -result : result;
}

VERBATIM_INLINE Vf activate(Vf x, int activation) {
  switch (activation) {
    case 0:
      return vmax(x, Vf{});
    case 1:
      return 0.5f * x * (1.0f + vtanh(0.7978845608f * (x + 0.044715f * x * x * x)));
    case 2:
      return x * vsigmoid(x);
    case 3:
      return 0.5f * x * (1.0f + verf(x * 0.7071067812f));
    case 4:
      return x * vsigmoid(1.702f * x);
    case 5:
      return vtanh(x);
    case 6:
      return vsigmoid(x);
    default:
      return x;
  }
}

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

VERBATIM_INLINE Vf load_weights(const float* p) { return load(p); }

VERBATIM_INLINE Vf load_weights(const Half* p) {
#if VERBATIM_VECTOR_BYTES == 64
  return reinterpret_cast<Vf>(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
#elif VERBATIM_VECTOR_BYTES == 32
  return reinterpret_cast<Vf>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#else
  Vf result;
  for (int i = 0; i < kLanes; ++i) {
    const std::uint32_t rest = p[i].bits & 0x7fffu;
    const std::uint32_t sign = (p[i].bits & 0x8000u) << 16;
    // Scaling by 2^112 moves the exponent to its place and normalizes subnormals.
    std::uint32_t bits = rest << 13;
    float magnitude;
    __builtin_memcpy(&magnitude, &bits, 4);
    magnitude *= 0x1p112f;
    __builtin_memcpy(&bits, &magnitude, 4);
    if (rest >= 0x7c00u) bits |= 0x7f800000u;
    bits |= sign;
    float value;
    __builtin_memcpy(&value, &bits, 4);
    result[i] = value;
  }
  return result;
#endif
}

VERBATIM_INLINE Vf load_weights(const Brain* p) {
#if VERBATIM_VECTOR_BYTES == 64
  const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  return reinterpret_cast<Vf>(_mm512_slli_epi32(wide, 16));
#elif VERBATIM_VECTOR_BYTES == 32
  const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  return reinterpret_cast<Vf>(_mm256_slli_epi32(wide, 16));
#else
  Vi bits;
  for (int i = 0; i < kLanes; ++i)
    bits[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(p[i].bits) << 16);
  return reinterpret_cast<Vf>(bits);
#endif
}

// Asks for the place `ahead` bytes further on: the panels that come next. The hardware looks ahead too, but
// stops at the ends of pages, and pauses while a panel is read again for other rows.
VERBATIM_INLINE void prefetch(const void* p, std::size_t ahead) {
  __builtin_prefetch(static_cast<const char*>(p) + ahead, 0, 2);
}

// The usual case of finish_row, without leaving the registers.
template <int V>
VERBATIM_INLINE void finish_plain(const GemmCall& call, std::size_t row, std::size_t first,
                                  const Vf (&products)[V]) {
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

// Whether finish_plain does for a tile of `width` outputs.
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

// M rows times P neighbouring panels. Each output is one chain of fused multiply-adds over the depth.
template <int M, int P, typename W>
VERBATIM_INLINE void float_tile(const GemmCall& call, std::size_t row, std::size_t panel) {
  constexpr int kVectors = P * kPanelVectors;
  const std::size_t depth = call.depth;
  const std::size_t ahead = P * depth * kPanelOutputs * sizeof(W);
  const float* x = static_cast<const float*>(call.x) + row * depth;
  const W* w = static_cast<const W*>(call.weights) + panel * depth * kPanelOutputs;
  Vf acc[M][kVectors] = {};
  for (std::size_t k = 0; k < depth; ++k) {
    Vf column[kVectors];
    for (int p = 0; p < P; ++p) {
      const W* at = w + (static_cast<std::size_t>(p) * depth + k) * kPanelOutputs;
      for (std::size_t line = 0; line < kPanelOutputs * sizeof(W); line += 64) prefetch(at, ahead + line);
      for (int v = 0; v < kPanelVectors; ++v) column[p * kPanelVectors + v] = load_weights(at + v * kLanes);
    }
    for (int m = 0; m < M; ++m) {
      const float value = x[static_cast<std::size_t>(m) * depth + k];
      for (int v = 0; v < kVectors; ++v) acc[m][v] += column[v] * value;
    }
  }
  const std::size_t first = panel * kPanelOutputs;
  const bool plain = is_plain(call, first, P * kPanelOutputs);
  for (int m = 0; m < M; ++m) finish(call, plain, row + static_cast<std::size_t>(m), first, acc[m]);
}

// What the instruction of dot4 leaves of the 128 that was added to the weights.
constexpr std::int32_t kWeightOffset = VERBATIM_VECTOR_BYTES == 64 ? 128 : 0;

VERBATIM_INLINE void finish_int8(const GemmCall& call, bool plain, std::size_t row, std::size_t panel,
                                 const std::int8_t* x, const Vi (&acc)[kPanelVectors]) {
  const std::size_t depth = quantized_depth(call.depth);
  float factor;
  std::int32_t total;
  __builtin_memcpy(&factor, x + depth, 4);
  __builtin_memcpy(&total, x + depth + 4, 4);
  const std::size_t first = panel * kPanelOutputs;
  Vf products[kPanelVectors];
  for (int v = 0; v < kPanelVectors; ++v) {
    const Vf sums = __builtin_convertvector(acc[v] - total * kWeightOffset, Vf);
    products[v] = sums * (load(call.weight_factors + first + static_cast<std::size_t>(v * kLanes)) * factor);
  }
  finish(call, plain, row, first, products);
}

// acc[i] += sum over 4 of w[4 i + j] * x[j]; w has 128 added.
VERBATIM_INLINE Vi dot4(Vi acc, const std::uint8_t* w, const std::int8_t* x) {
#if VERBATIM_VECTOR_BYTES == 16
  for (int i = 0; i < kLanes; ++i) {
    for (int j = 0; j < 4; ++j) acc[i] += (static_cast<std::int32_t>(w[4 * i + j]) - 128) * x[j];
  }
  return acc;
#else
  std::int32_t four;
  __builtin_memcpy(&four, x, 4);
#if VERBATIM_VECTOR_BYTES == 64
  return reinterpret_cast<Vi>(
      _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(acc), _mm512_loadu_si512(w), _mm512_set1_epi32(four)));
#else
  // |x| * (w with the sign of x): a pair of products stays below 2^15, where w * x as they are would
  // saturate.
  const __m256i quad = _mm256_set1_epi32(four);
  const __m256i weights =
      _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w)), _mm256_set1_epi8(-128));
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(quad), _mm256_sign_epi8(weights, quad));
  return acc + reinterpret_cast<Vi>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#endif
#endif
}

template <int M, int P>
VERBATIM_INLINE void int8_tile(const GemmCall& call, std::size_t row, std::size_t panel) {
  const std::size_t depth = quantized_depth(call.depth);
  const std::size_t ahead = P * depth * kPanelOutputs;
  const std::size_t stride = quantized_row_bytes(call.depth);
  const auto* x = static_cast<const std::int8_t*>(call.x) + row * stride;
  const auto* w = static_cast<const std::uint8_t*>(call.weights) + panel * depth * kPanelOutputs;
  Vi acc[M][P][kPanelVectors] = {};
  for (std::size_t k = 0; k < depth; k += 4) {
    for (int p = 0; p < P; ++p) {
      const std::uint8_t* at = w + (static_cast<std::size_t>(p) * depth + k) * kPanelOutputs;
      prefetch(at, ahead);
      prefetch(at, ahead + 64);
      for (int m = 0; m < M; ++m) {
        for (int v = 0; v < kPanelVectors; ++v) {
          acc[m][p][v] =
              dot4(acc[m][p][v], at + v * kLanes * 4, x + static_cast<std::size_t>(m) * stride + k);
        }
      }
    }
  }
  for (int p = 0; p < P; ++p) {
    const bool plain = is_plain(call, (panel + static_cast<std::size_t>(p)) * kPanelOutputs, kPanelOutputs);
    for (int m = 0; m < M; ++m) {
      finish_int8(call, plain, row + static_cast<std::size_t>(m), panel + static_cast<std::size_t>(p),
                  x + static_cast<std::size_t>(m) * stride, acc[m][p]);
    }
  }
}

// Row blocks whose sums fit the registers: 32 with AVX-512, 16 before; and the most rows for which two panels
// pass at a time.
#if VERBATIM_VECTOR_BYTES == 64
constexpr int kLargeBlock = 12, kMediumBlock = 8, kSmallBlock = 4, kPairBlock = 2;
constexpr std::size_t kRowsOfTwoPanels = 4;
#elif VERBATIM_VECTOR_BYTES == 32
constexpr int kLargeBlock = 3, kMediumBlock = 3, kSmallBlock = 2, kPairBlock = 1;
constexpr std::size_t kRowsOfTwoPanels = 1;
#else
constexpr int kLargeBlock = 1, kMediumBlock = 1, kSmallBlock = 1, kPairBlock = 1;
constexpr std::size_t kRowsOfTwoPanels = 0;
#endif

template <int M, int P, typename W>
[[gnu::noinline]] void run_tile(const GemmCall& call, std::size_t row, std::size_t panel) {
  if constexpr (sizeof(W) == 1) {
    int8_tile<M, P>(call, row, panel);
  } else {
    float_tile<M, P, W>(call, row, panel);
  }
}

template <int M, int P, typename W>
VERBATIM_INLINE void run_blocks(const GemmCall& call, std::size_t panel, std::size_t& row) {
  for (; row + M <= call.rows; row += M) run_tile<M, P, W>(call, row, panel);
}

// All rows times P panels: the panels stay in the cache while the rows pass.
template <int P, typename W>
VERBATIM_INLINE void panels(const GemmCall& call, std::size_t panel) {
  std::size_t row = 0;
  if constexpr (P == 1) {
    run_blocks<kLargeBlock, P, W>(call, panel, row);
    run_blocks<kMediumBlock, P, W>(call, panel, row);
  }
  if constexpr (P == 1 || kRowsOfTwoPanels >= kSmallBlock) run_blocks<kSmallBlock, P, W>(call, panel, row);
  run_blocks<kPairBlock, P, W>(call, panel, row);
  run_blocks<1, P, W>(call, panel, row);
}

template <typename W>
VERBATIM_INLINE void gemm(const GemmCall& call) {
  std::size_t panel = call.first_panel;
  // With few rows the product waits for memory: two streams of weights keep more of it on the way.
  if constexpr (kRowsOfTwoPanels > 0) {
    if (call.rows <= kRowsOfTwoPanels) {
      for (; panel + 2 <= call.last_panel; panel += 2) panels<2, W>(call, panel);
    }
  }
  for (; panel < call.last_panel; ++panel) panels<1, W>(call, panel);
}

void gemm_float32(const GemmCall& call) { gemm<float>(call); }
void gemm_float16(const GemmCall& call) { gemm<Half>(call); }
void gemm_bfloat16(const GemmCall& call) { gemm<Brain>(call); }
void gemm_int8(const GemmCall& call) { gemm<std::uint8_t>(call); }

void quantize_row(const float* x, std::size_t depth, bool round, std::int8_t* out) {
  float peak = 0.0f;
  std::size_t i = 0;
  Vf peaks = {};
  for (; i + kLanes <= depth; i += kLanes) {
    const Vf value = load(x + i);
    peaks = vmax(peaks, value < Vf{} ? -value : value);
  }
  peak = largest(peaks);
  for (std::size_t j = i; j < depth; ++j) {
    const float magnitude = x[j] < 0.0f ? -x[j] : x[j];
    peak = magnitude > peak ? magnitude : peak;
  }
  const float scale = peak > 0.0f ? 127.0f / peak : 1.0f;
  const float shifter = 12582912.0f;
  std::int32_t total = 0;
  for (std::size_t j = 0; j < depth; ++j) {
    const float value = x[j] * scale;
    float rounded = value + shifter;
    std::int32_t bits;
    __builtin_memcpy(&bits, &rounded, 4);
    const std::int32_t integer = round ? bits - 0x4b400000 : static_cast<std::int32_t>(value);
    out[j] = static_cast<std::int8_t>(integer);
    total += integer;
  }
  const std::size_t padded = quantized_depth(depth);
  for (std::size_t j = depth; j < padded; ++j) out[j] = 0;
  const float factor = 1.0f / scale;
  __builtin_memcpy(out + padded, &factor, 4);
  __builtin_memcpy(out + padded + 4, &total, 4);
}

void layer_norm(const float* x, std::size_t size, const float* gamma, const float* beta, float epsilon,
                float* out) {
  const std::size_t whole = size / kLanes * kLanes;
  Vf sums = {};
  Vf squares = {};
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const Vf value = load(x + i);
    sums += value;
    squares += value * value;
  }
  float total = sum(sums);
  float total_square = sum(squares);
  for (std::size_t i = whole; i < size; ++i) {
    total += x[i];
    total_square += x[i] * x[i];
  }
  const float count = static_cast<float>(size);
  const float mean = beta ? total / count : 0.0f;
  float variance = total_square / count - mean * mean;
  if (variance < 0.0f) variance = 0.0f;
  const float factor = 1.0f / __builtin_sqrtf(variance + epsilon);
  for (std::size_t i = 0; i < whole; i += kLanes) {
    Vf value = (load(x + i) - mean) * factor * load(gamma + i);
    if (beta) value += load(beta + i);
    store(out + i, value);
  }
  for (std::size_t i = whole; i < size; ++i) {
    out[i] = (x[i] - mean) * factor * gamma[i] + (beta ? beta[i] : 0.0f);
  }
}

VERBATIM_INLINE float dot(const float* a, const float* b, std::size_t size) {
  Vf acc = {};
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) acc += load(a + i) * load(b + i);
  float total = sum(acc);
  for (; i < size; ++i) total += a[i] * b[i];
  return total;
}

// The sums of four vectors.
VERBATIM_INLINE void sum_four(const Vf (&v)[4], float* out) {
#if VERBATIM_VECTOR_BYTES >= 32
  __m256 halves[4];
  for (int i = 0; i < 4; ++i) {
#if VERBATIM_VECTOR_BYTES == 64
    const auto whole = reinterpret_cast<__m512>(v[i]);
    halves[i] = _mm256_add_ps(_mm512_castps512_ps256(whole), _mm512_extractf32x8_ps(whole, 1));
#else
    halves[i] = reinterpret_cast<__m256>(v[i]);
#endif
  }
  const __m256 pairs =
      _mm256_hadd_ps(_mm256_hadd_ps(halves[0], halves[1]), _mm256_hadd_ps(halves[2], halves[3]));
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1)));
#else
  for (int i = 0; i < 4; ++i) out[i] = sum(v[i]);
#endif
}

// Products of the query with four keys; head_size is a multiple of the lanes.
VERBATIM_INLINE void dot_four(const AttendCall& call, std::size_t first, float* out) {
  Vf acc[4] = {};
  for (std::size_t i = 0; i < call.head_size; i += kLanes) {
    const Vf query = load(call.query + i);
    for (std::size_t j = 0; j < 4; ++j) {
      const float* key = call.rows[first + j] + call.key_offset + i;
      prefetch(key, call.ahead * sizeof(float));
      acc[j] += query * load(key);
    }
  }
  sum_four(acc, out);
}

VERBATIM_INLINE void score_keys(const AttendCall& call) {
  float* scores = call.probabilities;
  std::size_t i = 0;
  if (call.head_size % kLanes == 0) {
    for (; i + 4 <= call.count; i += 4) dot_four(call, i, scores + i);
  }
  for (; i < call.count; ++i) scores[i] = dot(call.query, call.rows[i] + call.key_offset, call.head_size);
  if (!call.relative_keys) return;
  for (i = 0; i < call.count; ++i) scores[i] += dot(call.query, call.relative_keys[i], call.head_size);
}

// softmax(x * scale); x has room for whole vectors.
VERBATIM_INLINE void softmax(float* x, std::size_t size, float scale) {
  const std::size_t padded = (size + kLanes - 1) / kLanes * kLanes;
  for (std::size_t i = size; i < padded; ++i) x[i] = -3.0e38f / (scale > 1.0f ? scale : 1.0f);
  Vf peaks = load(x);
  for (std::size_t i = kLanes; i < padded; i += kLanes) peaks = vmax(peaks, load(x + i));
  const float peak = largest(peaks) * scale;
  Vf sums = {};
  for (std::size_t i = 0; i < padded; i += kLanes) {
    const Vf power = vexp(load(x + i) * scale - peak);
    sums += power;
    store(x + i, power);
  }
  const float factor = 1.0f / sum(sums);
  for (std::size_t i = 0; i < padded; i += kLanes) store(x + i, load(x + i) * factor);
}

// out[first, first + V vectors) = the weighted sum of the values there.
template <int V>
VERBATIM_INLINE void mix_values(const AttendCall& call, std::size_t first) {
  Vf acc[V] = {};
  for (std::size_t j = 0; j < call.count; ++j) {
    const float weight = call.probabilities[j];
    const float* value = call.rows[j] + call.value_offset + first;
    for (int v = 0; v < V; ++v) {
      prefetch(value + v * kLanes, call.ahead * sizeof(float));
      acc[v] += load(value + v * kLanes) * weight;
    }
    if (!call.relative_values) continue;
    for (int v = 0; v < V; ++v) acc[v] += load(call.relative_values[j] + first + v * kLanes) * weight;
  }
  for (int v = 0; v < V; ++v) store(call.out + first + v * kLanes, acc[v]);
}

void attend(const AttendCall& call) {
  score_keys(call);
  softmax(call.probabilities, call.count, call.scale);
  std::size_t i = 0;
  for (; i + 4 * kLanes <= call.head_size; i += 4 * kLanes) mix_values<4>(call, i);
  for (; i + kLanes <= call.head_size; i += kLanes) mix_values<1>(call, i);
  for (; i < call.head_size; ++i) {
    float total = 0.0f;
    for (std::size_t j = 0; j < call.count; ++j) {
      const float relative = call.relative_values ? call.relative_values[j][i] : 0.0f;
      total += call.probabilities[j] * (call.rows[j][call.value_offset + i] + relative);
    }
    call.out[i] = total;
  }
}

// Puts a value behind those that are at least as large.
VERBATIM_INLINE void insert(float value, std::int32_t id, std::size_t k, std::size_t& count,
                            std::int32_t* ids, float* values) {
  std::size_t at = count < k ? count++ : k - 1;
  for (; at > 0 && values[at - 1] < value; --at) {
    values[at] = values[at - 1];
    ids[at] = ids[at - 1];
  }
  values[at] = value;
  ids[at] = id;
}

void top_k(const float* x, std::size_t size, std::size_t k, std::int32_t* ids, float* values) {
  std::size_t count = 0;
  std::size_t i = 0;
  for (; i < size && count < k; ++i) insert(x[i], static_cast<std::int32_t>(i), k, count, ids, values);
  constexpr std::size_t kBlock = 4 * kLanes;
  for (; i + kBlock <= size; i += kBlock) {
    const Vf bar = splat(values[k - 1]);
    const Vf high = vmax(vmax(load(x + i), load(x + i + kLanes)),
                         vmax(load(x + i + 2 * kLanes), load(x + i + 3 * kLanes)));
    if (!any(high > bar)) continue;
    for (std::size_t j = i; j < i + kBlock; ++j) {
      if (x[j] > values[k - 1]) insert(x[j], static_cast<std::int32_t>(j), k, count, ids, values);
    }
  }
  for (; i < size; ++i) {
    if (x[i] > values[k - 1]) insert(x[i], static_cast<std::int32_t>(i), k, count, ids, values);
  }
}

float log_sum_exp(const float* x, std::size_t size, float peak) {
  Vf sums = {};
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) sums += vexp(load(x + i) - peak);
  float rest[kLanes];
  for (int j = 0; j < kLanes; ++j) rest[j] = -100.0f;
  for (int j = 0; i < size; ++i, ++j) rest[j] = x[i] - peak;
  sums += vexp(load(rest));
  return peak + __builtin_logf(sum(sums));
}

}  // namespace

extern const Kernels kTable;
const Kernels kTable = {VERBATIM_KERNELS_NAME, gemm_float32, gemm_float16, gemm_bfloat16, gemm_int8,
                        quantize_row,          layer_norm,   attend,       top_k,         log_sum_exp};

}  // namespace VERBATIM_KERNELS
}  // namespace verbatim::translation

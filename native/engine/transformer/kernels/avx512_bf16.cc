// Products of bfloat16 by the instruction for them, compiled with AVX512-BF16 if the compiler targets x86-64; empty
// elsewhere. The rest of a variant is AVX-512's.
#if defined(__AVX512BF16__)
#include <immintrin.h>

#include "transformer/kernels/kernels.h"

namespace verbatim::transformer::avx512_bf16 {
namespace {

constexpr int kVectors = 2;
constexpr int kVectorFloats = 16;

// M rows times a panel: pairs of the depth are summed at a time.
template <int M>
[[gnu::always_inline]] inline void tile(const GemmCall& call, std::size_t row, std::size_t panel) {
  const std::size_t depth = paired_depth(call.depth);
  const auto* x = static_cast<const std::uint16_t*>(call.x) + row * depth;
  const auto* w = static_cast<const std::uint16_t*>(call.weights) + panel * depth * kPanelOutputs;
  __m512 acc[M][kVectors];
  for (int m = 0; m < M; ++m) {
    for (int v = 0; v < kVectors; ++v) acc[m][v] = _mm512_setzero_ps();
  }
  for (std::size_t k = 0; k < depth; k += 2) {
    __m512bh column[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      column[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(w + k * kPanelOutputs + v * 2 * kVectorFloats));
    }
    for (int m = 0; m < M; ++m) {
      std::int32_t pair;
      __builtin_memcpy(&pair, x + static_cast<std::size_t>(m) * depth + k, sizeof(pair));
      const auto both = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
      for (int v = 0; v < kVectors; ++v) acc[m][v] = _mm512_dpbf16_ps(acc[m][v], both, column[v]);
    }
  }
  const std::size_t first = panel * kPanelOutputs;
  for (int m = 0; m < M; ++m) {
    float* const y = call.y + (row + static_cast<std::size_t>(m)) * call.ld + first;
    for (int v = 0; v < kVectors; ++v) {
      const std::size_t at = static_cast<std::size_t>(v * kVectorFloats);
      if (first + at >= call.outputs) break;
      const std::size_t left = call.outputs - first - at;
      const auto mask = static_cast<__mmask16>(left >= kVectorFloats ? 0xffffu : (1u << left) - 1u);
      _mm512_mask_storeu_ps(y + at, mask, acc[m][v]);
    }
  }
}

template <int M>
[[gnu::noinline]] void run_tile(const GemmCall& call, std::size_t row, std::size_t panel) {
  tile<M>(call, row, panel);
}

}  // namespace

void gemm_pairs(const GemmCall& call);
void gemm_pairs(const GemmCall& call) {
  for (std::size_t panel = call.first_panel; panel < call.last_panel; ++panel) {
    std::size_t row = 0;
    for (; row + 12 <= call.rows; row += 12) run_tile<12>(call, row, panel);
    for (; row + 4 <= call.rows; row += 4) run_tile<4>(call, row, panel);
    for (; row < call.rows; ++row) run_tile<1>(call, row, panel);
  }
}

}  // namespace verbatim::transformer::avx512_bf16
#endif

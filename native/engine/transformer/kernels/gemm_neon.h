// The sums of an int8 product by NEON, a whole step of the depth at a time. A part of gemm.h. Sums are exact, so they
// are the same as by dot4.
#pragma once

#include "transformer/kernels/kernels.h"
#include "transformer/kernels/vector.h"

namespace verbatim::transformer {
namespace VERBATIM_KERNELS {
namespace {

// M rows of quantized values.
template <int M>
struct QuantizedRows {
  const std::int8_t* x;
  std::size_t stride;
  const std::int8_t* at(int m, std::size_t k) const { return x + static_cast<std::size_t>(m) * stride + k; }
};

// Weights of four outputs from depth k on: w points to those at depth 0.
VERBATIM_INLINE const std::uint8_t* weights_at(const std::uint8_t* w, std::size_t k, int v) {
  return w + k * kPanelOutputs + v * kLanes * 4;
}

#if VERBATIM_VNNI
using NeonWeights = uint8x16_t;
VERBATIM_INLINE NeonWeights load_weights(const std::uint8_t* w) { return vld1q_u8(w); }
#else
using NeonWeights = int8x16_t;
// Without the 128 that was added.
VERBATIM_INLINE NeonWeights load_weights(const std::uint8_t* w) {
  return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(w), vdupq_n_u8(128)));
}
#endif

#if VERBATIM_VNNI || defined(__ARM_FEATURE_DOTPROD)

// Four bytes of the depth: lane J of each row's vector.
template <int J, int M, int V>
VERBATIM_INLINE void sum_lane(Vi (&acc)[M][V], const std::uint8_t* w, const int8x16_t (&rows)[M]) {
  for (int v = 0; v < V; ++v) {
    const NeonWeights weights = load_weights(weights_at(w, 4 * J, v));
    for (int m = 0; m < M; ++m) {
#if VERBATIM_VNNI
      acc[m][v] = vusdotq_laneq_s32(acc[m][v], weights, rows[m], J);
#else
      acc[m][v] = vdotq_laneq_s32(acc[m][v], weights, rows[m], J);
#endif
    }
  }
}

// By sdot or usdot: four outputs of a row, four bytes of the depth.
template <int M, int V>
VERBATIM_INLINE std::size_t sum_by_lanes(Vi (&acc)[M][V], const std::uint8_t* w, QuantizedRows<M> x, std::size_t depth,
                                         std::size_t ahead) {
  std::size_t k = 0;
  for (; k + 16 <= depth; k += 16) {
    int8x16_t rows[M];
    for (int m = 0; m < M; ++m) rows[m] = vld1q_s8(x.at(m, k));
    for (std::size_t line = 0; line < 16 * kPanelOutputs; line += 4 * kPanelOutputs)
      prefetch(w + k * kPanelOutputs, ahead + line);
    sum_lane<0>(acc, weights_at(w, k, 0), rows);
    sum_lane<1>(acc, weights_at(w, k, 0), rows);
    sum_lane<2>(acc, weights_at(w, k, 0), rows);
    sum_lane<3>(acc, weights_at(w, k, 0), rows);
  }
  return k;
}

#endif

#if VERBATIM_VNNI

// By usmmla: two outputs of two rows, eight bytes of the depth.
template <int M, int V>
VERBATIM_INLINE std::size_t sum_pairs(Vi (&acc)[M][V], const std::uint8_t* w, QuantizedRows<M> x, std::size_t depth,
                                      std::size_t ahead) {
  Vi sums[M / 2][2 * V] = {};
  std::size_t k = 0;
  for (; k + 8 <= depth; k += 8) {
    int8x16_t rows[M / 2];
    for (int m = 0; m < M / 2; ++m) rows[m] = vcombine_s8(vld1_s8(x.at(2 * m, k)), vld1_s8(x.at(2 * m + 1, k)));
    prefetch(w + k * kPanelOutputs, ahead);
    prefetch(w + k * kPanelOutputs, ahead + 4 * kPanelOutputs);
    for (int v = 0; v < V; ++v) {
      const Vi first = load_words(weights_at(w, k, v)), second = load_words(weights_at(w, k + 4, v));
      const auto low = reinterpret_cast<uint8x16_t>(vzip1q_s32(first, second));
      const auto high = reinterpret_cast<uint8x16_t>(vzip2q_s32(first, second));
      for (int m = 0; m < M / 2; ++m) {
        sums[m][2 * v] = vusmmlaq_s32(sums[m][2 * v], low, rows[m]);
        sums[m][2 * v + 1] = vusmmlaq_s32(sums[m][2 * v + 1], high, rows[m]);
      }
    }
  }
  for (int m = 0; m < M; ++m) {
    for (int v = 0; v < V; ++v) {
      const Vi low = sums[m / 2][2 * v], high = sums[m / 2][2 * v + 1];
      acc[m][v] = m % 2 == 0 ? vuzp1q_s32(low, high) : vuzp2q_s32(low, high);
    }
  }
  return k;
}

#elif !defined(__ARM_FEATURE_DOTPROD)

// By widening multiplications. Two products are summed in 16 bits: at most 2 * 128 * 127 in size.
template <int M, int V>
VERBATIM_INLINE std::size_t sum_widened(Vi (&acc)[M][V], const std::uint8_t* w, QuantizedRows<M> x, std::size_t depth,
                                        std::size_t ahead) {
  Vi sums[M][2 * V] = {};
  std::size_t k = 0;
  for (; k + 8 <= depth; k += 8) {
    prefetch(w + k * kPanelOutputs, ahead);
    prefetch(w + k * kPanelOutputs, ahead + 4 * kPanelOutputs);
    int8x16_t one[M], two[M];
    for (int m = 0; m < M; ++m) {
      const int32x2_t eight = vreinterpret_s32_s8(vld1_s8(x.at(m, k)));
      one[m] = vreinterpretq_s8_s32(vdupq_lane_s32(eight, 0));
      two[m] = vreinterpretq_s8_s32(vdupq_lane_s32(eight, 1));
    }
    for (int v = 0; v < V; ++v) {
      const NeonWeights first = load_weights(weights_at(w, k, v)), second = load_weights(weights_at(w, k + 4, v));
      for (int m = 0; m < M; ++m) {
        const int16x8_t low = vmull_s8(vget_low_s8(first), vget_low_s8(one[m]));
        const int16x8_t high = vmull_high_s8(first, one[m]);
        sums[m][2 * v] = vpadalq_s16(sums[m][2 * v], vmlal_s8(low, vget_low_s8(second), vget_low_s8(two[m])));
        sums[m][2 * v + 1] = vpadalq_s16(sums[m][2 * v + 1], vmlal_high_s8(high, second, two[m]));
      }
    }
  }
  for (int m = 0; m < M; ++m) {
    for (int v = 0; v < V; ++v) acc[m][v] = vpaddq_s32(sums[m][2 * v], sums[m][2 * v + 1]);
  }
  return k;
}

#endif

// Adds the products to acc, which is zero, of the depth from 0 to the returned one.
template <int M, int V>
VERBATIM_INLINE std::size_t sum_steps(Vi (&acc)[M][V], const std::uint8_t* w, QuantizedRows<M> x, std::size_t depth,
                                      std::size_t ahead) {
#if VERBATIM_VNNI
  if constexpr (M % 2 == 0)
    return sum_pairs(acc, w, x, depth, ahead);
  else
    return sum_by_lanes(acc, w, x, depth, ahead);
#elif defined(__ARM_FEATURE_DOTPROD)
  return sum_by_lanes(acc, w, x, depth, ahead);
#else
  return sum_widened(acc, w, x, depth, ahead);
#endif
}

}  // namespace
}  // namespace VERBATIM_KERNELS
}  // namespace verbatim::transformer

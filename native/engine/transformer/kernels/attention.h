// Softmax and the product of probabilities with values for many queries at a time. A part of impl.h.
#pragma once

#include "transformer/kernels/cross.h"
#include "transformer/kernels/gemm.h"
#include "transformer/kernels/kernels.h"
#include "transformer/kernels/vector.h"

namespace verbatim::transformer {
namespace VERBATIM_KERNELS {
namespace {

// 2^x for x <= 0, within 3e-6 of its value; below 2^-126 it is 2^-126, about 1e-38. A polynomial of degree 4 for the
// fraction, its coefficients fitted for the least relative error.
VERBATIM_INLINE Vf exp2_of_negative(Vf x) {
  const Vf in_range = vmax(x, splat(-126.0f));
  const Vf shifter = splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const Vf shifted = in_range + shifter;
  const Vf r = in_range - (shifted - shifter);
  Vf p = splat(9.570101276e-3f);
  p = p * r + 5.591785908e-2f;
  p = p * r + 2.402474433e-1f;
  p = p * r + 6.931217909e-1f;
  p = p * r + 9.999992847e-1f;
  // The integer is in the low bits of `shifted`, and goes to the exponent.
  return reinterpret_cast<Vf>(reinterpret_cast<Vi>(p) + (reinterpret_cast<Vi>(shifted) << 23));
}

// Pads x[size] to whole vectors and returns the largest value.
VERBATIM_INLINE Vf pad_scores(float* x, std::size_t size) {
  const std::size_t padded = attention_room(size);
  for (std::size_t i = size; i < padded; ++i) x[i] = -3.0e38f;
  Vf peaks = load(x);
  for (std::size_t i = kLanes; i < padded; i += kLanes) peaks = vmax(peaks, load(x + i));
  return splat(largest(peaks));
}

float powers_of_two_float32(float* x, std::size_t size) {
  const Vf peak = pad_scores(x, size);
  const std::size_t padded = attention_room(size);
  Vf sums = {};
  for (std::size_t i = 0; i < padded; i += kLanes) {
    const Vf power = exp2_of_negative(load(x + i) - peak);
    sums += power;
    store(x + i, power);
  }
  for (std::size_t i = size; i < padded; ++i) x[i] = 0.0f;
  return sum(sums);
}

float powers_of_two_uint16(float* x, std::size_t size, std::uint8_t* out) {
  const Vf peak = pad_scores(x, size);
  const std::size_t padded = attention_room(size);
  Vu sums = {};
  for (std::size_t i = 0; i < padded; i += kLanes) {
    // Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
    const Vf power = exp2_of_negative(load(x + i) - peak);
    const auto bits = reinterpret_cast<Vi>(power * 65535.0f + splat(12582912.0f));
    store_bytes(out + i, bits >> 8);
    store_bytes(out + padded + i, bits);
    sums += reinterpret_cast<Vu>(bits);
  }
  // Modulo 2^32, as the sums themselves.
  const auto excess = 0x4b400000u * static_cast<std::uint32_t>(padded / kLanes);
  float total = 0.0f;
  for (int lane = 0; lane < kLanes; ++lane) total += static_cast<float>(sums[lane] - excess);
  return total;
}

#if VERBATIM_VNNI
// Rows whose sums, of high and of low bytes, fit the vector registers beside the values.
constexpr int kMixedRows = VERBATIM_VECTOR_BYTES == 64 ? 6 : 3;
constexpr int kMixedVectors = 2;

// M rows times kMixedVectors vectors of a panel, from vector `part` on.
template <int M>
[[gnu::noinline]] void mix_tile(const MixValuesCall& call, std::size_t row, std::size_t panel, int part) {
  const std::size_t depth = call.depth;
  const std::uint8_t* p = call.probabilities + row * 2 * depth;
  const std::int8_t* values = call.values + panel * depth * kPanelOutputs + part * kLanes * 4;
  Vi high[M][kMixedVectors] = {}, low[M][kMixedVectors] = {};
  for (std::size_t k = 0; k < depth; k += 4) {
    Vi column[kMixedVectors];
    for (int v = 0; v < kMixedVectors; ++v) column[v] = load_words(values + k * kPanelOutputs + v * kLanes * 4);
    for (int m = 0; m < M; ++m) {
      const std::uint8_t* const at = p + static_cast<std::size_t>(m) * 2 * depth + k;
      std::int32_t upper, lower;
      __builtin_memcpy(&upper, at, 4);
      __builtin_memcpy(&lower, at + depth, 4);
      for (int v = 0; v < kMixedVectors; ++v) {
        high[m][v] = add_products(high[m][v], Vi{} + upper, column[v]);
        low[m][v] = add_products(low[m][v], Vi{} + lower, column[v]);
      }
    }
  }
  for (int m = 0; m < M; ++m) {
    const std::size_t at = row + static_cast<std::size_t>(m);
    for (int v = 0; v < kMixedVectors; ++v) {
      const std::size_t first = panel * kPanelOutputs + static_cast<std::size_t>((part + v) * kLanes);
      if (first >= call.channels) break;
      const Vf whole = __builtin_convertvector(high[m][v], Vf) * 256.0f + __builtin_convertvector(low[m][v], Vf);
      const Vf result = whole * (load(call.scales + first) * call.factors[at]);
      const std::size_t left = call.channels - first;
      float* const out = call.out + at * call.ld + first;
      if (left >= kLanes) {
        store(out, result);
      } else {
        float part_of_it[kLanes];
        store(part_of_it, result);
        __builtin_memcpy(out, part_of_it, left * sizeof(float));
      }
    }
  }
}

void mix_values_int8(const MixValuesCall& call) {
  const std::size_t panels = (call.channels + kPanelOutputs - 1) / kPanelOutputs;
  for (std::size_t panel = 0; panel < panels; ++panel) {
    for (int part = 0; part < kPanelVectors; part += kMixedVectors) {
      std::size_t row = 0;
      for (; row + kMixedRows <= call.rows; row += kMixedRows) mix_tile<kMixedRows>(call, row, panel, part);
      for (; row < call.rows; ++row) mix_tile<1>(call, row, panel, part);
    }
  }
}

constexpr auto kMixValues = mix_values_int8;
#else
constexpr void (*kMixValues)(const MixValuesCall&) = nullptr;
#endif

}  // namespace
}  // namespace VERBATIM_KERNELS
}  // namespace verbatim::transformer

// Softmax and the product of probabilities with values for many queries at a time. A part of impl.h.
#pragma once

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

VERBATIM_INLINE void put(float* out, Vf value) { store(out, value); }
VERBATIM_INLINE void put(std::uint16_t* out, Vf value) {
  const Halves halves = __builtin_convertvector((reinterpret_cast<Vi>(value) + 0x8000) >> 16, Halves);
  __builtin_memcpy(out, &halves, sizeof(halves));
}

// The room behind x[size] is overwritten.
template <typename T>
VERBATIM_INLINE float powers_of_two(float* x, std::size_t size, T* out) {
  const std::size_t padded = attention_room(size);
  for (std::size_t i = size; i < padded; ++i) x[i] = -3.0e38f;
  Vf peaks = load(x);
  for (std::size_t i = kLanes; i < padded; i += kLanes) peaks = vmax(peaks, load(x + i));
  const Vf peak = splat(largest(peaks));
  Vf sums = {};
  for (std::size_t i = 0; i < padded; i += kLanes) {
    const Vf power = exp2_of_negative(load(x + i) - peak);
    sums += power;
    put(out + i, power);
  }
  for (std::size_t i = size; i < padded; ++i) out[i] = 0;
  return sum(sums);
}

float powers_of_two_float32(float* x, std::size_t size) { return powers_of_two(x, size, x); }
float powers_of_two_bfloat16(float* x, std::size_t size, std::uint16_t* out) { return powers_of_two(x, size, out); }

}  // namespace
}  // namespace VERBATIM_KERNELS
}  // namespace verbatim::transformer

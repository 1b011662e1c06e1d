// Vector types and functions that the kernels share. A part of impl.h.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(VERBATIM_NEON)
#include <arm_neon.h>
#endif

#pragma GCC diagnostic ignored "-Wpsabi"
#if !defined(__clang__)
// GCC 12's own headers deliberately read undefined vectors.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace verbatim::transformer {
namespace VERBATIM_KERNELS {
namespace {

constexpr int kLanes = VERBATIM_VECTOR_BYTES / 4;

using Vf = float __attribute__((vector_size(VERBATIM_VECTOR_BYTES)));
using Vi = std::int32_t __attribute__((vector_size(VERBATIM_VECTOR_BYTES)));
using Vu = std::uint32_t __attribute__((vector_size(VERBATIM_VECTOR_BYTES)));
// As many as Vi has lanes.
using Halves = std::uint16_t __attribute__((vector_size(VERBATIM_VECTOR_BYTES / 2)));
using Words = Vi __attribute__((aligned(4), may_alias));
using UnalignedVf = float __attribute__((vector_size(VERBATIM_VECTOR_BYTES), aligned(4), may_alias));

struct Brain {
  std::uint16_t bits;
};

#define VERBATIM_INLINE [[gnu::always_inline]] inline

VERBATIM_INLINE Vf load(const float* p) { return *reinterpret_cast<const UnalignedVf*>(p); }
VERBATIM_INLINE Vf load(const Brain* p) {
#if VERBATIM_VECTOR_BYTES == 64
  const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  return reinterpret_cast<Vf>(_mm512_slli_epi32(wide, 16));
#elif VERBATIM_VECTOR_BYTES == 32
  const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  return reinterpret_cast<Vf>(_mm256_slli_epi32(wide, 16));
#elif defined(VERBATIM_NEON)
  return reinterpret_cast<Vf>(vshll_n_u16(vld1_u16(&p->bits), 16));
#else
  Vi bits;
  for (int i = 0; i < kLanes; ++i) bits[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(p[i].bits) << 16);
  return reinterpret_cast<Vf>(bits);
#endif
}
VERBATIM_INLINE Vi load_words(const void* p) { return *static_cast<const Words*>(p); }
// The low byte of each lane, side by side.
VERBATIM_INLINE void store_bytes(void* p, Vi v) {
#if VERBATIM_VECTOR_BYTES == 64
  _mm_storeu_si128(static_cast<__m128i*>(p), _mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(v)));
#elif VERBATIM_VECTOR_BYTES == 32
  const __m256i low = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12, -1, -1,
                                       -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i packed = _mm256_shuffle_epi8(reinterpret_cast<__m256i>(v), low);
  const __m128i both = _mm_unpacklo_epi32(_mm256_castsi256_si128(packed), _mm256_extracti128_si256(packed, 1));
  _mm_storel_epi64(static_cast<__m128i*>(p), both);
#else
  for (int i = 0; i < kLanes; ++i) static_cast<std::uint8_t*>(p)[i] = static_cast<std::uint8_t>(v[i]);
#endif
}
// A single float.
VERBATIM_INLINE float value_at(const float* p) { return *p; }
VERBATIM_INLINE float value_at(const Brain* p) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(p->bits) << 16);
}
VERBATIM_INLINE void store(float* p, Vf v) { *reinterpret_cast<UnalignedVf*>(p) = v; }
VERBATIM_INLINE Vf splat(float value) { return Vf{} + value; }
// The second one if either is a NaN; on ARM the other one. The compilers do not make one instruction of a comparison
// and a choice.
VERBATIM_INLINE Vf vmax(Vf a, Vf b) {
#if VERBATIM_VECTOR_BYTES == 64
  return reinterpret_cast<Vf>(_mm512_max_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b)));
#elif VERBATIM_VECTOR_BYTES == 32
  return reinterpret_cast<Vf>(_mm256_max_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b)));
#elif defined(VERBATIM_NEON)
  return vmaxnmq_f32(a, b);
#else
  return a > b ? a : b;
#endif
}
VERBATIM_INLINE Vf vmin(Vf a, Vf b) {
#if VERBATIM_VECTOR_BYTES == 64
  return reinterpret_cast<Vf>(_mm512_min_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b)));
#elif VERBATIM_VECTOR_BYTES == 32
  return reinterpret_cast<Vf>(_mm256_min_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b)));
#elif defined(VERBATIM_NEON)
  return vminnmq_f32(a, b);
#else
  return a < b ? a : b;
#endif
}

#if VERBATIM_VNNI
// acc[i] += sum over 4 of a[4 i + j] * b[4 i + j]: the bytes of a are unsigned, those of b signed.
VERBATIM_INLINE Vi add_products(Vi acc, Vi a, Vi b) {
#if VERBATIM_VECTOR_BYTES == 64
  return reinterpret_cast<Vi>(
      _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(acc), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(VERBATIM_NEON)
  return vusdotq_s32(acc, reinterpret_cast<uint8x16_t>(a), reinterpret_cast<int8x16_t>(b));
#else
  return reinterpret_cast<Vi>(_mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(acc), reinterpret_cast<__m256i>(a),
                                                      reinterpret_cast<__m256i>(b)));
#endif
}
#elif defined(VERBATIM_NEON)
// acc[i] += sum over 4 of a[4 i + j] * b[4 i + j]: signed bytes; those of b are never -128.
VERBATIM_INLINE Vi add_signed_products(Vi acc, Vi a, Vi b) {
  const auto left = reinterpret_cast<int8x16_t>(a), right = reinterpret_cast<int8x16_t>(b);
#if defined(__ARM_FEATURE_DOTPROD)
  return vdotq_s32(acc, left, right);
#else
  // Two products are at most 2 * 128 * 127 in size, which fits 16 bits.
  const int16x8_t low = vmull_s8(vget_low_s8(left), vget_low_s8(right));
  return vpadalq_s16(acc, vpaddq_s16(low, vmull_high_s8(left, right)));
#endif
}
#endif

VERBATIM_INLINE float sum(Vf v) {
  float total = 0.0f;
#if VERBATIM_VECTOR_BYTES == 64
  total = _mm512_reduce_add_ps(reinterpret_cast<__m512>(v));
#elif defined(VERBATIM_NEON)
  total = vaddvq_f32(v);
#else
  for (int i = 0; i < kLanes; ++i) total += v[i];
#endif
  return total;
}

VERBATIM_INLINE float largest(Vf v) {
  float result = v[0];
#if VERBATIM_VECTOR_BYTES == 64
  result = _mm512_reduce_max_ps(reinterpret_cast<__m512>(v));
#elif defined(VERBATIM_NEON)
  result = vmaxnmvq_f32(v);
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
#elif defined(VERBATIM_NEON)
  return vmaxvq_u32(reinterpret_cast<uint32x4_t>(mask)) != 0;
#else
  std::int32_t bits = 0;
  for (int i = 0; i < kLanes; ++i) bits |= mask[i];
  return bits != 0;
#endif
}

// Prefetches `ahead` bytes further on: the next panels. The hardware's own prefetching stops at page ends, and pauses
// while a panel is read again for other rows.
VERBATIM_INLINE void prefetch(const void* p, std::size_t ahead) {
  __builtin_prefetch(static_cast<const char*>(p) + ahead, 0, 2);
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
  // 2^n in two factors, so that n = 128 does not overflow.
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

}  // namespace
}  // namespace VERBATIM_KERNELS
}  // namespace verbatim::transformer

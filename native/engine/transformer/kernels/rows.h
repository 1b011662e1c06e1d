// Quantization, normalization and attention of single rows. A part of impl.h.
#pragma once

#include "transformer/kernels/kernels.h"
#include "transformer/kernels/vector.h"

namespace verbatim::transformer {
namespace VERBATIM_KERNELS {
namespace {

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
  // Adding this leaves the nearest integer, ties to even, in the low bits.
  const float shifter = 12582912.0f;
  // Modulo 2^32: a row that holds no numbers has any sum.
  std::uint32_t total = 0;
  // As in CTranslate2, which first shifts to unsigned values: the sum is rounded as a float.
  std::size_t j = 0;
  if (round) {
    Vu totals = {};
    for (; j < i; j += kLanes) {
      const Vf nearest = (load(x + j) * scale + 128.0f) + shifter;
      const Vi integers = reinterpret_cast<Vi>(nearest) - (0x4b400000 + 128);
      store_bytes(out + j, integers);
      totals += reinterpret_cast<Vu>(integers);
    }
    for (int lane = 0; lane < kLanes; ++lane) total += totals[lane];
  }
  for (; j < depth; ++j) {
    const float shifted = x[j] * scale + 128.0f;
    const float nearest = shifted + shifter;
    std::int32_t bits;
    __builtin_memcpy(&bits, &nearest, 4);
    const std::int32_t integer = (round ? bits - 0x4b400000 : static_cast<std::int32_t>(shifted)) - 128;
    out[j] = static_cast<std::int8_t>(integer);
    total += static_cast<std::uint32_t>(integer);
  }
  const std::size_t padded = quantized_depth(depth);
  for (j = depth; j < padded; ++j) out[j] = 0;
  const float factor = 1.0f / scale;
  __builtin_memcpy(out + padded, &factor, 4);
  __builtin_memcpy(out + padded + 4, &total, 4);
}

void layer_norm(const float* x, std::size_t size, const float* gamma, const float* beta, float epsilon, float* out) {
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

template <typename T>
VERBATIM_INLINE const T* row_of(const AttendCall& call, std::size_t row, std::size_t offset) {
  return static_cast<const T*>(call.rows[row]) + offset;
}

template <typename T>
VERBATIM_INLINE float dot(const float* a, const T* b, std::size_t size) {
  Vf acc = {};
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) acc += load(a + i) * load(b + i);
  float total = sum(acc);
  for (; i < size; ++i) total += a[i] * value_at(b + i);
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
  const __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(halves[0], halves[1]), _mm256_hadd_ps(halves[2], halves[3]));
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1)));
#else
  for (int i = 0; i < 4; ++i) out[i] = sum(v[i]);
#endif
}

// Products of the query with four keys; head_size is a multiple of the lanes.
template <typename T>
VERBATIM_INLINE void dot_four(const AttendCall& call, std::size_t first, float* out) {
  Vf acc[4] = {};
  for (std::size_t i = 0; i < call.head_size; i += kLanes) {
    const Vf query = load(call.query + i);
    for (std::size_t j = 0; j < 4; ++j) {
      const T* key = row_of<T>(call, first + j, call.key_offset) + i;
      prefetch(key, call.ahead * sizeof(T));
      acc[j] += query * load(key);
    }
  }
  sum_four(acc, out);
}

template <typename T>
VERBATIM_INLINE void score_keys(const AttendCall& call) {
  float* scores = call.probabilities;
  std::size_t i = 0;
  if (call.head_size % kLanes == 0) {
    for (; i + 4 <= call.count; i += 4) dot_four<T>(call, i, scores + i);
  }
  for (; i < call.count; ++i) scores[i] = dot(call.query, row_of<T>(call, i, call.key_offset), call.head_size);
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
template <int V, typename T>
VERBATIM_INLINE void mix_values(const AttendCall& call, std::size_t first) {
  Vf acc[V] = {};
  for (std::size_t j = 0; j < call.count; ++j) {
    const float weight = call.probabilities[j];
    const T* value = row_of<T>(call, j, call.value_offset) + first;
    for (int v = 0; v < V; ++v) {
      prefetch(value + v * kLanes, call.ahead * sizeof(T));
      acc[v] += load(value + v * kLanes) * weight;
    }
    if (!call.relative_values) continue;
    for (int v = 0; v < V; ++v) acc[v] += load(call.relative_values[j] + first + v * kLanes) * weight;
  }
  for (int v = 0; v < V; ++v) store(call.out + first + v * kLanes, acc[v]);
}

template <typename T>
VERBATIM_INLINE void attend(const AttendCall& call) {
  score_keys<T>(call);
  softmax(call.probabilities, call.count, call.scale);
  std::size_t i = 0;
  for (; i + 4 * kLanes <= call.head_size; i += 4 * kLanes) mix_values<4, T>(call, i);
  for (; i + kLanes <= call.head_size; i += kLanes) mix_values<1, T>(call, i);
  for (; i < call.head_size; ++i) {
    float total = 0.0f;
    for (std::size_t j = 0; j < call.count; ++j) {
      const float relative = call.relative_values ? call.relative_values[j][i] : 0.0f;
      total += call.probabilities[j] * (value_at(row_of<T>(call, j, call.value_offset + i)) + relative);
    }
    call.out[i] = total;
  }
}

void attend_float32(const AttendCall& call) { attend<float>(call); }
void attend_bfloat16(const AttendCall& call) { attend<Brain>(call); }

}  // namespace
}  // namespace VERBATIM_KERNELS
}  // namespace verbatim::transformer

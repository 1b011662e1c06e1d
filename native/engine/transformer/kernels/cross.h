// One query against the packed keys and values of a head. A part of impl.h.
#pragma once

#include "transformer/kernels/gemm.h"
#include "transformer/kernels/kernels.h"
#include "transformer/kernels/rows.h"
#include "transformer/kernels/vector.h"

namespace verbatim::transformer {
namespace VERBATIM_KERNELS {
namespace {

constexpr int kBlockVectors = static_cast<int>(kCrossBlock) / kLanes;
// Blocks that are summed side by side: each sum is a chain of dependent operations, and there are registers for
// several.
#if VERBATIM_VECTOR_BYTES == 64
constexpr std::size_t kBlocksAtOnce = 4;
#elif VERBATIM_VECTOR_BYTES == 32 || defined(VERBATIM_NEON)
constexpr std::size_t kBlocksAtOnce = 2;
#else
constexpr std::size_t kBlocksAtOnce = 1;
#endif
// Prefetch distance in bytes. Keys and values are read from end to end once per token.
constexpr std::size_t kCrossAhead = 4096;

// Nearest integer, ties to even, of a value within 2^22.
VERBATIM_INLINE Vi nearest(Vf x) { return reinterpret_cast<Vi>(x + splat(12582912.0f)) - 0x4b400000; }

VERBATIM_INLINE Vi rounded_bits(Vi bits) {
  const Vi rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  // A NaN: rounding could make it infinite.
  return (bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16) | 0x40 : rounded;
}

void round_to_bfloat16(const float* x, std::size_t size, std::uint16_t* out) {
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const Halves halves = __builtin_convertvector(rounded_bits(load_words(x + i)), Halves);
    __builtin_memcpy(out + i, &halves, sizeof(halves));
  }
  if (i == size) return;
  float rest[kLanes] = {};
  __builtin_memcpy(rest, x + i, (size - i) * sizeof(float));
  const Halves halves = __builtin_convertvector(rounded_bits(load_words(rest)), Halves);
  __builtin_memcpy(out + i, &halves, (size - i) * sizeof(std::uint16_t));
}

std::uint16_t quantize_head(const float* x, std::size_t size, std::int8_t* out) {
  const std::size_t whole = size / kLanes * kLanes;
  Vf peaks = {};
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const Vf value = load(x + i);
    peaks = vmax(peaks, value < Vf{} ? -value : value);
  }
  float peak = largest(peaks);
  for (std::size_t i = whole; i < size; ++i) {
    const float magnitude = x[i] < 0.0f ? -x[i] : x[i];
    peak = magnitude > peak ? magnitude : peak;
  }
  const auto bits = __builtin_bit_cast(std::uint32_t, peak / 127.0f);
  const Brain scale{static_cast<std::uint16_t>((bits + 0xffffu) >> 16)};
  const float real = value_at(&scale);
  const float factor = real > 0.0f ? 1.0f / real : 0.0f;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    store_bytes(out + i, nearest(load(x + i) * factor));
  }
  for (std::size_t i = whole; i < size; ++i)
    out[i] = static_cast<std::int8_t>(__builtin_bit_cast(std::int32_t, x[i] * factor + 12582912.0f));
  return scale.bits;
}

// A query as 128 * high + low, both int8. This gives 15 bits of each value in two 8-bit products.
struct QueryParts {
  const std::int8_t* high;
  const std::int8_t* low;
  std::int32_t high_sum = 0;
  std::int32_t low_sum = 0;
  // The real value of 1.
  float unit = 0.0f;
};

VERBATIM_INLINE QueryParts split_query(const PackedAttendCall& call) {
  constexpr float kMost = 127.0f * 128.0f;
  float peak = 0.0f;
  for (std::size_t i = 0; i < call.head_size; ++i) {
    const float magnitude = call.query[i] < 0.0f ? -call.query[i] : call.query[i];
    peak = magnitude > peak ? magnitude : peak;
  }
  const float factor = peak > 0.0f ? kMost / peak : 0.0f;
  const std::size_t padded = cross_key_depth(call.head_size);
  auto* high = reinterpret_cast<std::int8_t*>(call.scratch);
  std::int8_t* low = high + padded;
  QueryParts parts{high, low};
  for (std::size_t i = 0; i < padded; ++i) {
    const float shifted = (i < call.head_size ? call.query[i] * factor : 0.0f) + 12582912.0f;
    const std::int32_t whole = __builtin_bit_cast(std::int32_t, shifted) - 0x4b400000;
    const std::int32_t upper = (whole + 64) >> 7;
    high[i] = static_cast<std::int8_t>(upper);
    low[i] = static_cast<std::int8_t>(whole - upper * 128);
    parts.high_sum += upper;
    parts.low_sum += whole - upper * 128;
  }
  parts.unit = peak / kMost;
  return parts;
}

// Scores of B blocks of keys.
template <std::size_t B>
VERBATIM_INLINE void score_int8(const PackedAttendCall& call, const QueryParts& query, std::size_t block) {
  const std::size_t depth = cross_key_depth(call.head_size);
  const auto* keys = static_cast<const std::uint8_t*>(call.keys) + block * kCrossBlock * depth;
  Vi high[B][kBlockVectors] = {}, low[B][kBlockVectors] = {};
  for (std::size_t k = 0; k < depth; k += 4) {
    for (std::size_t b = 0; b < B; ++b) {
      const std::uint8_t* at = keys + (b * depth + k) * kCrossBlock;
      prefetch(at, kCrossAhead);
      for (int v = 0; v < kBlockVectors; ++v) {
        high[b][v] = dot4(high[b][v], at + v * kLanes * 4, query.high + k);
        low[b][v] = dot4(low[b][v], at + v * kLanes * 4, query.low + k);
      }
    }
  }
  for (std::size_t b = 0; b < B; ++b) {
    for (int v = 0; v < kBlockVectors; ++v) {
      const std::size_t at = (block + b) * kCrossBlock + static_cast<std::size_t>(v * kLanes);
      const Vf upper = __builtin_convertvector(without_offset(high[b][v], query.high_sum), Vf);
      const Vf lower = __builtin_convertvector(without_offset(low[b][v], query.low_sum), Vf);
      const Vf scales = load(reinterpret_cast<const Brain*>(call.key_scales) + at);
      store(call.probabilities + at, (upper * 128.0f + lower) * (scales * query.unit));
    }
  }
}

// acc[i] += sum over 4 of w[j] * x[4 i + j]; w below 128.
VERBATIM_INLINE Vi mix4(Vi acc, std::int32_t w, const std::int8_t* x) {
#if VERBATIM_VNNI
  return add_products(acc, Vi{} + w, load_words(x));
#elif defined(VERBATIM_NEON)
  return add_signed_products(acc, load_words(x), Vi{} + w);
#elif VERBATIM_VECTOR_BYTES == 32
  const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi32(w), values);
  return acc + reinterpret_cast<Vi>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#else
  for (int i = 0; i < kLanes; ++i) {
    for (int j = 0; j < 4; ++j) acc[i] += ((w >> (8 * j)) & 127) * x[4 * i + j];
  }
  return acc;
#endif
}

// The probabilities multiplied by the values' scales, as 128 * high + low, both below 128.
struct WeightParts {
  const std::uint8_t* high;
  const std::uint8_t* low;
  float unit = 0.0f;
};

VERBATIM_INLINE WeightParts split_weights(const PackedAttendCall& call) {
  constexpr float kMost = 127.0f * 128.0f + 127.0f;
  const std::size_t padded = attention_room(call.count);
  std::uint8_t* high = call.scratch + 2 * cross_key_depth(call.head_size);
  std::uint8_t* low = high + padded;
  const auto weight = [&](std::size_t i) {
    return load(call.probabilities + i) * load(reinterpret_cast<const Brain*>(call.value_scales) + i);
  };
  for (std::size_t i = call.count; i < padded; ++i) call.probabilities[i] = 0.0f;
  Vf peaks = {};
  for (std::size_t i = 0; i < padded; i += kLanes) peaks = vmax(peaks, weight(i));
  const float peak = largest(peaks);
  const float factor = peak > 0.0f ? kMost / peak : 0.0f;
  for (std::size_t i = 0; i < padded; i += kLanes) {
    const Vi whole = nearest(weight(i) * factor);
    store_bytes(high + i, whole >> 7);
    store_bytes(low + i, whole & 127);
  }
  return {high, low, peak / kMost};
}

// out[first, first + V vectors) = the weighted sum of the values there.
template <int V>
VERBATIM_INLINE void mix_int8(const PackedAttendCall& call, const WeightParts& weights, std::size_t first) {
  const std::size_t depth = cross_value_depth(call.head_size);
  const auto* values = static_cast<const std::int8_t*>(call.values) + first * 4;
  Vi high[V] = {}, low[V] = {};
  for (std::size_t j = 0; j < call.count; j += 4) {
    std::int32_t upper, lower;
    __builtin_memcpy(&upper, weights.high + j, 4);
    __builtin_memcpy(&lower, weights.low + j, 4);
    const std::int8_t* at = values + j * depth;
    for (int v = 0; v < V; ++v) {
      prefetch(at + v * kLanes * 4, kCrossAhead);
      high[v] = mix4(high[v], upper, at + v * kLanes * 4);
      low[v] = mix4(low[v], lower, at + v * kLanes * 4);
    }
  }
  for (int v = 0; v < V; ++v) {
    const Vf sums = __builtin_convertvector(high[v], Vf) * 128.0f + __builtin_convertvector(low[v], Vf);
    store(call.out + first + v * kLanes, sums * weights.unit);
  }
}

// Runs mix<V>(first) over all vectors of a head, several at a time.
template <typename Mix>
VERBATIM_INLINE void for_vectors(std::size_t head_size, const Mix& mix) {
  const std::size_t depth = cross_value_depth(head_size);
  std::size_t i = 0;
  for (; i + 4 * kLanes <= depth; i += 4 * kLanes) mix.template operator()<4>(i);
  for (; i < depth; i += kCrossBlock) mix.template operator()<kBlockVectors>(i);
}

void attend_packed_int8(const PackedAttendCall& call) {
  const std::size_t blocks = (call.count + kCrossBlock - 1) / kCrossBlock;
  const QueryParts query = split_query(call);
  std::size_t block = 0;
  for (; block + kBlocksAtOnce <= blocks; block += kBlocksAtOnce) score_int8<kBlocksAtOnce>(call, query, block);
  for (; block < blocks; ++block) score_int8<1>(call, query, block);
  softmax(call.probabilities, call.count, call.scale);
  const WeightParts weights = split_weights(call);
  for_vectors(call.head_size, [&]<int V>(std::size_t first) { mix_int8<V>(call, weights, first); });
}

template <std::size_t B>
VERBATIM_INLINE void score_bfloat16(const PackedAttendCall& call, std::size_t block) {
  const std::size_t depth = cross_key_depth(call.head_size);
  const auto* keys = static_cast<const std::uint16_t*>(call.keys) + block * kCrossBlock * depth;
  Vf acc[B][kBlockVectors] = {};
  for (std::size_t k = 0; k < depth; k += 2) {
    const float even = k < call.head_size ? call.query[k] : 0.0f;
    const float odd = k + 1 < call.head_size ? call.query[k + 1] : 0.0f;
    for (std::size_t b = 0; b < B; ++b) {
      const std::uint16_t* at = keys + (b * depth + k) * kCrossBlock;
      prefetch(at, kCrossAhead);
      for (int v = 0; v < kBlockVectors; ++v) {
        const Vi pairs = load_words(at + v * kLanes * 2);
        acc[b][v] += reinterpret_cast<Vf>(pairs << 16) * even;
        acc[b][v] += reinterpret_cast<Vf>(pairs & static_cast<std::int32_t>(0xffff0000u)) * odd;
      }
    }
  }
  for (std::size_t b = 0; b < B; ++b) {
    for (int v = 0; v < kBlockVectors; ++v)
      store(call.probabilities + (block + b) * kCrossBlock + static_cast<std::size_t>(v * kLanes), acc[b][v]);
  }
}

template <int V>
VERBATIM_INLINE void mix_bfloat16(const PackedAttendCall& call, std::size_t first) {
  const std::size_t depth = cross_value_depth(call.head_size);
  const auto* values = static_cast<const Brain*>(call.values) + first;
  Vf even[V] = {}, odd[V] = {};
  for (std::size_t j = 0; j < call.count; j += 2) {
    const float second = j + 1 < call.count ? call.probabilities[j + 1] : 0.0f;
    const Brain* at = values + j * depth;
    for (int v = 0; v < V; ++v) {
      prefetch(at + v * kLanes, kCrossAhead);
      even[v] += load(at + v * kLanes) * call.probabilities[j];
      odd[v] += load(at + depth + v * kLanes) * second;
    }
  }
  for (int v = 0; v < V; ++v) store(call.out + first + v * kLanes, even[v] + odd[v]);
}

void attend_packed_bfloat16(const PackedAttendCall& call) {
  const std::size_t blocks = (call.count + kCrossBlock - 1) / kCrossBlock;
  std::size_t block = 0;
  for (; block + kBlocksAtOnce <= blocks; block += kBlocksAtOnce) score_bfloat16<kBlocksAtOnce>(call, block);
  for (; block < blocks; ++block) score_bfloat16<1>(call, block);
  softmax(call.probabilities, call.count, call.scale);
  for_vectors(call.head_size, [&]<int V>(std::size_t first) { mix_bfloat16<V>(call, first); });
}

}  // namespace
}  // namespace VERBATIM_KERNELS
}  // namespace verbatim::transformer

// Functions that the search applies to logits. A part of impl.h.
#pragma once

#include "transformer/kernels/kernels.h"
#include "transformer/kernels/vector.h"

namespace verbatim::transformer {
namespace VERBATIM_KERNELS {
namespace {

// Inserts a value behind those that are at least as large.
VERBATIM_INLINE void insert(float value, std::int32_t id, std::size_t k, std::size_t& count, std::int32_t* ids,
                            float* values) {
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
    const Vf high =
        vmax(vmax(load(x + i), load(x + i + kLanes)), vmax(load(x + i + 2 * kLanes), load(x + i + 3 * kLanes)));
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

void exponentials(const float* x, std::size_t size, float peak, float* out) {
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) store(out + i, vexp(load(x + i) - peak));
  if (i == size) return;
  float rest[kLanes] = {};
  for (std::size_t j = 0; i + j < size; ++j) rest[j] = x[i + j] - peak;
  store(rest, vexp(load(rest)));
  for (std::size_t j = 0; i + j < size; ++j) out[i + j] = rest[j];
}

}  // namespace
}  // namespace VERBATIM_KERNELS
}  // namespace verbatim::transformer

// Operations of a Conformer besides matrix products. A part of impl.h.
#pragma once

#include "transformer/kernels/kernels.h"
#include "transformer/kernels/rows.h"
#include "transformer/kernels/vector.h"

namespace verbatim::transformer {
namespace VERBATIM_KERNELS {
namespace {

// The first `size` values at p, followed by zeros.
VERBATIM_INLINE Vf load_part(const float* p, std::size_t size) {
  float part[kLanes] = {};
  for (std::size_t i = 0; i < size; ++i) part[i] = p[i];
  return load(part);
}

VERBATIM_INLINE void store_part(float* p, Vf value, std::size_t size) {
  float part[kLanes];
  store(part, value);
  for (std::size_t i = 0; i < size; ++i) p[i] = part[i];
}

void mix_rows(const MixCall& call) {
  std::size_t i = 0;
  for (; i + kLanes <= call.size; i += kLanes) {
    Vf acc = load(call.bias + i);
    for (std::size_t j = 0; j < call.taps; ++j) {
      acc += load(call.weights + j * call.size + i) * load(call.rows[j] + i);
    }
    store(call.out + i, activate(acc, call.activation));
  }
  if (i == call.size) return;
  const std::size_t left = call.size - i;
  Vf acc = load_part(call.bias + i, left);
  for (std::size_t j = 0; j < call.taps; ++j) {
    acc += load_part(call.weights + j * call.size + i, left) * load_part(call.rows[j] + i, left);
  }
  store_part(call.out + i, activate(acc, call.activation), left);
}

void gate_row(const float* x, const float* gate, std::size_t size, float* out) {
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) store(out + i, load(x + i) * vsigmoid(load(gate + i)));
  const std::size_t left = size - i;
  if (left > 0) store_part(out + i, load_part(x + i, left) * vsigmoid(load_part(gate + i, left)), left);
}

void softmax_of_sum(const float* x, const float* y, std::size_t size, float scale, float* out) {
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) store(out + i, load(x + i) + load(y + i));
  for (; i < size; ++i) out[i] = x[i] + y[i];
  softmax(out, size, scale);
}

}  // namespace
}  // namespace VERBATIM_KERNELS
}  // namespace verbatim::transformer

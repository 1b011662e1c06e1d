#include "speech/parakeet/encoder.h"

#include <algorithm>
#include <utility>

#include "error.h"
#include "transformer/kernels/kernels.h"
#include "transformer/transformer.h"

namespace verbatim::parakeet {
namespace {

using Then = accelerator::WeightProduct::Then;

constexpr float kNormEpsilon = 1e-5f;

std::size_t size_of(std::int64_t value) { return static_cast<std::size_t>(value); }

void check(const AbortFlag* abort) {
  if (abort != nullptr && abort->is_set()) throw EngineError(ErrorCode::kAborted, "aborted by the caller");
}

}  // namespace

Encoder::Encoder(const EncoderWeights& weights, const std::shared_ptr<accelerator::WeightStore>& store,
                 const ModelShape& shape, int threads)
    : weights_(weights),
      store_(store),
      state_(shape.state),
      kernel_(shape.kernel),
      threads_(threads),
      operand_(accelerator::operand_size(store.get())),
      multiplier_(store, threads),
      subsampling_(weights.subsampling, *store, multiplier_, threads),
      attention_(store, shape.state, shape.heads, threads),
      rows_(size_of(threads * state_)) {}

const std::vector<float>& Encoder::encode(const MelSpectrogram& mel, const AbortFlag* abort) {
  check(abort);
  positions_ = positions_of(mel.frames);
  const std::size_t values = size_of(positions_ * state_);
  x_.resize(values);
  wide_.resize(3 * values);
  gated_.assign(values + size_of((kernel_ - 1) * state_), 0.0f);
  operands_.resize(values * operand_);
  inner_.resize(4 * values * operand_);
  subsampling_.run(mel, x_.data());
  for (const LayerWeights& weights : weights_.layers) layer(weights, abort);
  return x_;
}

void Encoder::layer(const LayerWeights& weights, const AbortFlag* abort) {
  check(abort);
  feed_forward(weights.first);
  check(abort);
  attention(weights.attention);
  check(abort);
  convolution(weights.convolution);
  check(abort);
  feed_forward(weights.second);
  const std::size_t state = size_of(state_);
  accelerator::for_each(positions_, threads_, [&](std::int64_t i, std::size_t /*thread*/) {
    float* const row = x_.data() + size_of(i) * state;
    transformer::kernels().layer_norm(row, state, weights.norm.gain.data(), weights.norm.bias.data(), kNormEpsilon,
                                      row);
  });
}

void Encoder::normalize(const NormWeights& weights) {
  const std::size_t state = size_of(state_);
  accelerator::for_each(positions_, threads_, [&](std::int64_t i, std::size_t thread) {
    float* const row = rows_.data() + thread * state;
    transformer::kernels().layer_norm(x_.data() + size_of(i) * state, state, weights.gain.data(), weights.bias.data(),
                                      kNormEpsilon, row);
    accelerator::to_operands(*store_, row, state, operands_.data() + size_of(i) * state * operand_);
  });
}

void Encoder::feed_forward(const FeedForwardWeights& weights) {
  normalize(weights.norm);
  multiplier_.multiply({.weight = weights.up,
                        .rows = positions_,
                        .left = operands_.data(),
                        .then = Then::kSilu,
                        .result = inner_.data(),
                        .as_operands = true});
  multiplier_.multiply(
      {.weight = weights.down, .rows = positions_, .left = inner_.data(), .then = Then::kAdd, .result = x_.data()});
}

void Encoder::attention(const AttentionWeights& weights) {
  normalize(weights.norm);
  multiplier_.multiply({.weight = weights.qkv, .rows = positions_, .left = operands_.data(), .result = wide_.data()});
  attention_.run(weights, wide_.data(), positions_, operands_.data());
  multiplier_.multiply(
      {.weight = weights.out, .rows = positions_, .left = operands_.data(), .then = Then::kAdd, .result = x_.data()});
}

// The gated values lie between rows of zeros, as many on each side as the kernel reaches.
void Encoder::convolution(const ConvolutionWeights& weights) {
  const std::size_t state = size_of(state_);
  normalize(weights.norm);
  multiplier_.multiply({.weight = weights.in, .rows = positions_, .left = operands_.data(), .result = wide_.data()});
  float* const gated = gated_.data() + size_of((kernel_ - 1) / 2) * state;
  accelerator::for_each(positions_, threads_, [&](std::int64_t i, std::size_t /*thread*/) {
    const float* const row = wide_.data() + size_of(2 * i) * state;
    transformer::kernels().gate_row(row, row + state, state, gated + size_of(i) * state);
  });
  accelerator::for_each(positions_, threads_, [&](std::int64_t i, std::size_t thread) {
    float* const row = rows_.data() + thread * state;
    std::vector<const float*> taps(size_of(kernel_));
    for (std::size_t j = 0; j < taps.size(); ++j) taps[j] = gated_.data() + (size_of(i) + j) * state;
    transformer::kernels().mix_rows({.rows = taps.data(),
                                     .weights = weights.kernel.data(),
                                     .taps = taps.size(),
                                     .bias = weights.bias.data(),
                                     .activation = static_cast<int>(transformer::Activation::kSwish),
                                     .size = state,
                                     .out = row});
    accelerator::to_operands(*store_, row, state, operands_.data() + size_of(i) * state * operand_);
  });
  multiplier_.multiply(
      {.weight = weights.out, .rows = positions_, .left = operands_.data(), .then = Then::kAdd, .result = x_.data()});
}

std::size_t Encoder::memory_bytes() const noexcept {
  return multiplier_.memory_bytes() + subsampling_.memory_bytes() + attention_.memory_bytes() +
         sizeof(float) * (x_.capacity() + rows_.capacity() + wide_.capacity() + gated_.capacity()) +
         operands_.capacity() + inner_.capacity();
}

}  // namespace verbatim::parakeet

#include "speech/parakeet/encoder.h"

#include <algorithm>

#include "error.h"
#include "transformer/transformer.h"

namespace verbatim::parakeet {
namespace {

using transformer::Activation;
using transformer::EncoderLayers;
using transformer::PositionBlock;

std::size_t size_of(std::int64_t value) { return static_cast<std::size_t>(value); }

void check(const AbortFlag* abort) {
  if (abort != nullptr && abort->is_set()) throw EngineError(ErrorCode::kAborted, "aborted by the caller");
}

}  // namespace

Encoder::Encoder(const EncoderWeights& weights, const ModelShape& shape, int threads,
                 const transformer::Kernels& kernels)
    : weights_(weights),
      kernels_(kernels),
      state_(size_of(shape.state)),
      kernel_(size_of(shape.kernel)),
      layers_(weights.format(), kernels, {state_, size_of(shape.heads)}, threads),
      subsampling_(weights.subsampling, layers_, kernels, threads) {}

const std::vector<float>& Encoder::encode(const MelSpectrogram& mel, const AbortFlag* abort) {
  check(abort);
  positions_ = size_of(positions_of(mel.frames));
  x_.resize(positions_ * state_);
  gated_.assign((positions_ + kernel_ - 1) * state_, 0.0f);
  subsampling_.run(mel, x_.data());
  for (const LayerWeights& weights : weights_.layers) layer(weights, abort);
  return x_;
}

void Encoder::layer(const LayerWeights& weights, const AbortFlag* abort) {
  check(abort);
  layers_.feed_forward(weights.first, Activation::kSwish, x_);
  check(abort);
  layers_.attention(weights.attention, &weights.positions, x_);
  check(abort);
  convolution(weights.convolution);
  check(abort);
  layers_.feed_forward(weights.second, Activation::kSwish, x_);
  layers_.for_each_block(positions_, [&](PositionBlock block, Lane& /*lane*/) {
    for (std::size_t i = block.first; i < block.first + block.count; ++i) {
      float* const row = x_.data() + i * state_;
      kernels_.layer_norm(row, state_, weights.norm.gamma.data(), weights.norm.beta.data(), weights.norm.epsilon, row);
    }
  });
}

// The gated values lie between rows of zeros, as many on each side as the kernel reaches.
void Encoder::convolution(const ConvolutionWeights& weights) {
  const transformer::PackedLinear& in = weights.in.linears.front();
  float* const gated = gated_.data() + (kernel_ - 1) / 2 * state_;
  layers_.for_each_block(positions_, [&](PositionBlock block, Lane& lane) {
    lane.inner.resize(std::max(lane.inner.size(), 2 * block.count * state_));
    lane.multiplier->multiply(
        {.weight = in.weight,
         .rows = block.count,
         .operands = layers_.normalized(weights.in, x_.data() + block.first * state_, block.count, lane),
         .epilogue = {.bias = in.bias.data()},
         .y = lane.inner.data()});
    for (std::size_t i = 0; i < block.count; ++i) {
      const float* const row = lane.inner.data() + 2 * i * state_;
      kernels_.gate_row(row, row + state_, state_, gated + (block.first + i) * state_);
    }
  });
  layers_.for_each_block(positions_, [&](PositionBlock block, Lane& lane) {
    lane.inner.resize(std::max(lane.inner.size(), block.count * state_));
    std::vector<const float*> taps(kernel_);
    for (std::size_t i = 0; i < block.count; ++i) {
      for (std::size_t j = 0; j < kernel_; ++j) taps[j] = gated_.data() + (block.first + i + j) * state_;
      kernels_.mix_rows({.rows = taps.data(),
                         .weights = weights.kernel.data(),
                         .taps = kernel_,
                         .bias = weights.bias.data(),
                         .activation = static_cast<int>(Activation::kSwish),
                         .size = state_,
                         .out = lane.inner.data() + i * state_});
    }
    float* const rows = x_.data() + block.first * state_;
    lane.multiplier->multiply(
        {.weight = weights.out.weight,
         .rows = block.count,
         .operands = EncoderLayers::operands(lane, lane.inner.data(), block.count, state_, state_, lane.operands),
         .epilogue = {.bias = weights.out.bias.data(), .residual = rows},
         .y = rows});
  });
}

std::size_t Encoder::memory_bytes() const noexcept {
  return layers_.memory_bytes() + subsampling_.memory_bytes() + sizeof(float) * (x_.capacity() + gated_.capacity());
}

}  // namespace verbatim::parakeet

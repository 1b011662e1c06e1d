#include "speech/whisper/encoder/cpu_encoder.h"

#include <algorithm>
#include <utility>

#include "thread_count.h"
#include "transformer/transformer.h"

namespace verbatim::whisper {
namespace {

using transformer::EncoderLayers;
using transformer::PackedLinear;
using transformer::PositionBlock;
using Lane = EncoderLayers::Lane;

constexpr float kNormEpsilon = 1e-5f;
// Frames of zeros before the window's; one follows them.
constexpr std::size_t kLeadingFrames = 2;
constexpr std::size_t kTrailingFrames = 1;
constexpr int kGelu = static_cast<int>(transformer::Activation::kGeluTanh);

}  // namespace

struct CpuEncoder::State final : EncoderState {
  explicit State(std::size_t values) : x(values) {}
  std::size_t memory_bytes() const noexcept override { return x.capacity() * sizeof(float); }
  std::vector<float> x;  // [positions][width]
};

CpuEncoder::CpuEncoder(std::shared_ptr<const Model> model, int threads, const transformer::Kernels& kernels)
    : model_(std::move(model)),
      weights_(*model_->cpu_encoder_weights()),
      kernels_(kernels),
      width_(static_cast<std::size_t>(model_->shape().audio_state)),
      zeros_(width_, 0.0f),
      layers_(weights_.format(), kernels, {width_, static_cast<std::size_t>(model_->shape().audio_heads)},
              (require_thread_count(threads), threads)) {}

void CpuEncoder::set_threads(int threads) {
  require_thread_count(threads);
  layers_.set_threads(threads);
}

std::unique_ptr<EncoderState> CpuEncoder::begin(const EncoderRun& run) {
  return std::make_unique<State>(static_cast<std::size_t>(run.positions()) * width_);
}

void CpuEncoder::compute(const EncoderRun& run, std::span<const EncoderStep> steps, EncoderState& state) {
  std::vector<float>& x = static_cast<State&>(state).x;
  layers_.use_threads_for(static_cast<std::size_t>(run.positions()));
  for (const EncoderStep& step : steps) {
    const auto layer = static_cast<std::size_t>(step.layer);
    switch (step.kind) {
      case EncoderStep::Kind::kConvolutions:
        convolutions(run, x);
        break;
      case EncoderStep::Kind::kAttention:
        layers_.attention(weights_.layers[layer].attention, nullptr, x);
        break;
      case EncoderStep::Kind::kFeedForward:
        layers_.feed_forward(weights_.layers[layer].feed_forward, transformer::Activation::kGeluTanh, x);
        break;
      case EncoderStep::Kind::kFinalNorm:
        final_norm(x);
        break;
      case EncoderStep::Kind::kCross:
        cross(layer, x, run.target());
        break;
    }
  }
}

// The first convolution covers one frame before each block's; before the window that frame's output is zeros, the
// padding of the second convolution.
void CpuEncoder::convolutions(const EncoderRun& run, std::vector<float>& x) {
  const auto bands = static_cast<std::size_t>(model_->shape().mels);
  const std::size_t count = 2 * static_cast<std::size_t>(run.positions());
  bands_.resize(bands * count);
  run.mel().copy(run.first_frame(), static_cast<int>(count), bands_.data());
  frames_.assign((kLeadingFrames + count + kTrailingFrames) * bands, 0.0f);
  for (std::size_t band = 0; band < bands; ++band) {
    for (std::size_t frame = 0; frame < count; ++frame) {
      frames_[(kLeadingFrames + frame) * bands + band] = bands_[band * count + frame];
    }
  }
  const PackedLinear& first = weights_.first_convolution;
  const PackedLinear& second = weights_.second_convolution;
  layers_.for_each_block(static_cast<std::size_t>(run.positions()), [&](PositionBlock block, Lane& lane) {
    const std::size_t rows = 2 * block.count + 1;
    lane.inner.resize(std::max(lane.inner.size(), rows * width_));
    lane.multiplier->multiply({.weight = first.weight,
                               .rows = rows,
                               .operands = EncoderLayers::operands(lane, frames_.data() + 2 * block.first * bands, rows,
                                                                   3 * bands, bands, lane.operands),
                               .epilogue = {.bias = first.bias.data(), .activation = kGelu},
                               .y = lane.inner.data()});
    if (block.first == 0) std::fill_n(lane.inner.begin(), width_, 0.0f);
    lane.multiplier->multiply({.weight = second.weight,
                               .rows = block.count,
                               .operands = EncoderLayers::operands(lane, lane.inner.data(), block.count, 3 * width_,
                                                                   2 * width_, lane.inner_operands),
                               .epilogue = {.bias = second.bias.data(),
                                            .activation = kGelu,
                                            .residual = weights_.positions.data() + block.first * width_},
                               .y = x.data() + block.first * width_});
  });
}

void CpuEncoder::final_norm(std::vector<float>& x) {
  layers_.for_each_block(x.size() / width_, [&](PositionBlock block, Lane& /*lane*/) {
    for (std::size_t i = block.first; i < block.first + block.count; ++i) {
      float* const row = x.data() + i * width_;
      kernels_.layer_norm(row, width_, weights_.cross.gain.data(), zeros_.data(), kNormEpsilon, row);
    }
  });
}

void CpuEncoder::cross(std::size_t layer, const std::vector<float>& x, transformer::CrossCache& target) {
  const PackedLinear& projection = weights_.cross.linears[layer];
  const std::size_t outputs = projection.weight.outputs();
  layers_.for_each_block(x.size() / width_, [&](PositionBlock block, Lane& lane) {
    lane.inner.resize(std::max(lane.inner.size(), block.count * outputs));
    lane.multiplier->multiply({.weight = projection.weight,
                               .rows = block.count,
                               .operands = EncoderLayers::operands(lane, x.data() + block.first * width_, block.count,
                                                                   width_, width_, lane.operands),
                               .epilogue = {.bias = projection.bias.data()},
                               .y = lane.inner.data()});
    target.write(layer, block.first, {lane.inner.data(), block.count * outputs});
  });
}

std::size_t CpuEncoder::memory_bytes() const noexcept {
  return layers_.memory_bytes() + (frames_.capacity() + bands_.capacity() + zeros_.capacity()) * sizeof(float);
}

}  // namespace verbatim::whisper

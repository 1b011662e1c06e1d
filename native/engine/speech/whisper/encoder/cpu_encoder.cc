#include "speech/whisper/encoder/cpu_encoder.h"

#include <algorithm>
#include <utility>

#include "thread_count.h"
#include "transformer/cpu/parallel.h"
#include "transformer/cpu/row_product.h"
#include "transformer/transformer.h"

namespace verbatim::whisper {
namespace {

using transformer::BalancedLinears;
using transformer::OutlierColumns;
using transformer::PackedLinear;

constexpr float kNormEpsilon = 1e-5f;
// Frames of zeros before the window's; one follows them.
constexpr std::size_t kLeadingFrames = 2;
constexpr std::size_t kTrailingFrames = 1;
// Positions of a block. The weights are read once for each block, and what a block computes should stay in the
// second-level cache.
constexpr std::size_t kBlock = 48;

constexpr std::size_t blocks_of(std::size_t positions) { return (positions + kBlock - 1) / kBlock; }

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
      attention_(kernels, weights_.type(), {width_, static_cast<std::size_t>(model_->shape().audio_heads)}) {
  CpuEncoder::set_threads(threads);
}

void CpuEncoder::set_threads(int threads) {
  require_thread_count(threads);
  lanes_.resize(static_cast<std::size_t>(threads));
  attention_.set_threads(threads);
}

std::unique_ptr<EncoderState> CpuEncoder::begin(const EncoderRun& run) {
  return std::make_unique<State>(static_cast<std::size_t>(run.positions()) * width_);
}

void CpuEncoder::compute(const EncoderRun& run, std::span<const EncoderStep> steps, EncoderState& state) {
  std::vector<float>& x = static_cast<State&>(state).x;
  const std::size_t blocks = blocks_of(static_cast<std::size_t>(run.positions()));
  // The same number in the whole unit: OpenMP ends threads that a loop does not need, and starts them again.
  active_ = static_cast<int>(std::min(lanes_.size(), blocks));
  for (const EncoderStep& step : steps) {
    const auto layer = static_cast<std::size_t>(step.layer);
    switch (step.kind) {
      case EncoderStep::Kind::kConvolutions:
        convolutions(run, x);
        break;
      case EncoderStep::Kind::kAttention:
        attention(weights_.layers[layer], x);
        break;
      case EncoderStep::Kind::kFeedForward:
        feed_forward(weights_.layers[layer], x);
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

void CpuEncoder::for_each_block(std::size_t positions, const std::function<void(Block, Lane&)>& task) {
  transformer::for_each(blocks_of(positions), active_, [&](std::size_t index, std::size_t thread) {
    const std::size_t first = index * kBlock;
    task({first, std::min(kBlock, positions - first)}, lanes_[thread]);
  });
}

// Rows of the matrix's inputs that begin `stride` values apart.
const std::byte* CpuEncoder::operands(const transformer::PackedMatrix& weight, const float* rows, std::size_t count,
                                      std::size_t stride, std::vector<std::byte>& out) const {
  const transformer::ComputeType type = weight.type();
  const std::size_t depth = weight.depth();
  const std::size_t row_bytes = transformer::operand_row_bytes(type, depth);
  if (out.size() < count * row_bytes) out.resize(count * row_bytes);
  for (std::size_t i = 0; i < count; ++i) {
    transformer::write_operands(kernels_, type, rows + i * stride, depth, out.data() + i * row_bytes);
  }
  return out.data();
}

const std::byte* CpuEncoder::normalized(const BalancedLinears& layer, const float* rows, std::size_t count,
                                        Lane& lane) const {
  const transformer::ComputeType type = layer.linears.front().weight.type();
  const std::size_t row_bytes = transformer::operand_row_bytes(type, width_);
  if (lane.operands.size() < count * row_bytes) lane.operands.resize(count * row_bytes);
  lane.norm.resize(width_);
  for (std::size_t i = 0; i < count; ++i) {
    kernels_.layer_norm(rows + i * width_, width_, layer.gain.data(), zeros_.data(), kNormEpsilon, lane.norm.data());
    transformer::write_operands(kernels_, type, lane.norm.data(), width_, lane.operands.data() + i * row_bytes);
  }
  return lane.operands.data();
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
  for_each_block(static_cast<std::size_t>(run.positions()), [&](Block block, Lane& lane) {
    const std::size_t rows = 2 * block.count + 1;
    lane.inner.resize(std::max(lane.inner.size(), rows * width_));
    multiply(kernels_,
             {.weight = first.weight,
              .rows = rows,
              .operands = operands(first.weight, frames_.data() + 2 * block.first * bands, rows, bands, lane.operands),
              .epilogue = {.bias = first.bias.data(), .activation = kGelu},
              .y = lane.inner.data(),
              .ld = width_});
    if (block.first == 0) std::fill_n(lane.inner.begin(), width_, 0.0f);
    multiply(kernels_,
             {.weight = second.weight,
              .rows = block.count,
              .operands = operands(second.weight, lane.inner.data(), block.count, 2 * width_, lane.inner_operands),
              .epilogue = {.bias = second.bias.data(),
                           .activation = kGelu,
                           .residual = weights_.positions.data() + block.first * width_},
              .y = x.data() + block.first * width_,
              .ld = width_});
  });
}

void CpuEncoder::attention(const CpuEncoderLayer& layer, std::vector<float>& x) {
  const std::size_t positions = x.size() / width_;
  const PackedLinear& qkv = layer.qkv.linears.front();
  attention_.reserve(positions);
  for_each_block(positions, [&](Block block, Lane& lane) {
    attention_.project(qkv, normalized(layer.qkv, x.data() + block.first * width_, block.count, lane), block.first,
                       block.count, lane.inner);
  });
  attention_.run(positions, active_);
  for_each_block(positions, [&](Block block, Lane& lane) {
    float* const rows = x.data() + block.first * width_;
    for (std::size_t head = 0; head < layer.out.size(); ++head) {
      const float* const result = attention_.result(head, block.first);
      add_product(layer.out[head], result, block.count, head == 0 ? layer.out_bias.data() : nullptr, rows, lane);
    }
  });
}

// Adds the product and the bias to rows of x. In int8 what rounding took from the input is rounded once more and added,
// so that the input has 15 bits: the parts of a head are sums over many positions, some of which outweigh the rest.
void CpuEncoder::add_product(const transformer::PackedMatrix& weight, const float* input, std::size_t count,
                             const float* bias, float* rows, Lane& lane) const {
  const std::size_t size = weight.depth();
  const std::byte* const rounded = operands(weight, input, count, size, lane.operands);
  transformer::RowProduct product{.weight = weight,
                                  .rows = count,
                                  .operands = rounded,
                                  .epilogue = {.bias = bias, .residual = rows},
                                  .y = rows,
                                  .ld = width_};
  multiply(kernels_, product);
  if (weight.type() != transformer::ComputeType::kInt8) return;
  lane.inner.resize(std::max(lane.inner.size(), count * size));
  const std::size_t row_bytes = transformer::operand_row_bytes(weight.type(), size);
  for (std::size_t i = 0; i < count; ++i) {
    transformer::rounding_error(input + i * size, size, rounded + i * row_bytes, lane.inner.data() + i * size);
  }
  product.operands = operands(weight, lane.inner.data(), count, size, lane.inner_operands);
  product.epilogue.bias = nullptr;
  multiply(kernels_, product);
}

void CpuEncoder::feed_forward(const CpuEncoderLayer& layer, std::vector<float>& x) {
  const PackedLinear& up = layer.up.linears.front();
  const std::size_t inner = up.weight.outputs();
  for_each_block(x.size() / width_, [&](Block block, Lane& lane) {
    float* const rows = x.data() + block.first * width_;
    lane.inner.resize(std::max(lane.inner.size(), block.count * inner));
    multiply(kernels_, {.weight = up.weight,
                        .rows = block.count,
                        .operands = normalized(layer.up, rows, block.count, lane),
                        .epilogue = {.bias = up.bias.data(), .activation = kGelu},
                        .y = lane.inner.data(),
                        .ld = inner});
    const OutlierColumns& outliers = layer.down_outliers;
    if (!outliers.empty()) outliers.take(lane.inner.data(), block.count, inner, lane.outliers);
    multiply(kernels_,
             {.weight = layer.down.weight,
              .rows = block.count,
              .operands = operands(layer.down.weight, lane.inner.data(), block.count, inner, lane.inner_operands),
              .epilogue = {.bias = layer.down.bias.data(), .residual = rows},
              .y = rows,
              .ld = width_});
    if (!outliers.empty()) outliers.add_product(kernels_, lane.outliers, block.count, rows, width_);
  });
}

void CpuEncoder::final_norm(std::vector<float>& x) {
  for_each_block(x.size() / width_, [&](Block block, Lane& /*lane*/) {
    for (std::size_t i = block.first; i < block.first + block.count; ++i) {
      float* const row = x.data() + i * width_;
      kernels_.layer_norm(row, width_, weights_.cross.gain.data(), zeros_.data(), kNormEpsilon, row);
    }
  });
}

void CpuEncoder::cross(std::size_t layer, const std::vector<float>& x, transformer::CrossCache& target) {
  const PackedLinear& projection = weights_.cross.linears[layer];
  const std::size_t outputs = projection.weight.outputs();
  for_each_block(x.size() / width_, [&](Block block, Lane& lane) {
    lane.inner.resize(std::max(lane.inner.size(), block.count * outputs));
    multiply(kernels_, {.weight = projection.weight,
                        .rows = block.count,
                        .operands = operands(projection.weight, x.data() + block.first * width_, block.count, width_,
                                             lane.operands),
                        .epilogue = {.bias = projection.bias.data()},
                        .y = lane.inner.data(),
                        .ld = outputs});
    target.write(layer, block.first, {lane.inner.data(), block.count * outputs});
  });
}

std::size_t CpuEncoder::memory_bytes() const noexcept {
  std::size_t bytes =
      attention_.memory_bytes() + (frames_.capacity() + bands_.capacity() + zeros_.capacity()) * sizeof(float);
  for (const Lane& lane : lanes_) {
    bytes += (lane.norm.capacity() + lane.inner.capacity() + lane.outliers.capacity()) * sizeof(float) +
             lane.operands.capacity() + lane.inner_operands.capacity();
  }
  return bytes;
}

}  // namespace verbatim::whisper

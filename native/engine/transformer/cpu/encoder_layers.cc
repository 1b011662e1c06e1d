#include "transformer/cpu/encoder_layers.h"

#include <algorithm>
#include <utility>

#include "transformer/cpu/parallel.h"

namespace verbatim::transformer {
namespace {

constexpr float kNormEpsilon = 1e-5f;

}  // namespace

EncoderLayers::EncoderLayers(const ProductFormat& format, const Kernels& kernels, const AttentionShape& shape,
                             int threads)
    : format_(format),
      kernels_(kernels),
      width_(shape.width),
      zeros_(shape.width, 0.0f),
      attention_(make_self_attention(format, kernels, shape)) {
  set_threads(threads);
}

void EncoderLayers::set_threads(int threads) {
  const auto count = static_cast<std::size_t>(threads);
  attention_->set_threads(threads);
  if (lanes_.size() > count) lanes_.resize(count);
  while (lanes_.size() < count) {
    Lane lane;
    lane.multiplier = make_row_multiplier(format_, kernels_);
    lanes_.push_back(std::move(lane));
  }
  active_ = threads;
}

void EncoderLayers::use_threads_for(std::size_t positions) noexcept {
  active_ = static_cast<int>(std::clamp<std::size_t>(blocks_of(positions), 1, lanes_.size()));
}

std::size_t EncoderLayers::blocks_of(std::size_t positions) const noexcept {
  const std::size_t size = lanes_.front().multiplier->block_rows();
  return (positions + size - 1) / size;
}

void EncoderLayers::for_each_block(std::size_t positions, const std::function<void(PositionBlock, Lane&)>& task) {
  const std::size_t size = lanes_.front().multiplier->block_rows();
  for_each(blocks_of(positions), active_, [&](std::size_t index, std::size_t thread) {
    const std::size_t first = index * size;
    task({first, std::min(size, positions - first)}, lanes_[thread]);
  });
}

const std::byte* EncoderLayers::operands(const Lane& lane, const float* rows, std::size_t count, std::size_t size,
                                         std::size_t stride, std::vector<std::byte>& out) {
  const std::size_t row_bytes = lane.multiplier->row_bytes(size);
  if (out.size() < count * row_bytes) out.resize(count * row_bytes);
  for (std::size_t i = 0; i < count; ++i) {
    lane.multiplier->write_operands(rows + i * stride, size, out.data() + i * row_bytes);
  }
  return out.data();
}

const std::byte* EncoderLayers::normalized(const BalancedLinears& layers, const float* rows, std::size_t count,
                                           Lane& lane) const {
  const std::size_t row_bytes = lane.multiplier->row_bytes(width_);
  if (lane.operands.size() < count * row_bytes) lane.operands.resize(count * row_bytes);
  lane.norm.resize(width_);
  for (std::size_t i = 0; i < count; ++i) {
    kernels_.layer_norm(rows + i * width_, width_, layers.gain.data(), zeros_.data(), kNormEpsilon, lane.norm.data());
    lane.multiplier->write_operands(lane.norm.data(), width_, lane.operands.data() + i * row_bytes);
  }
  return lane.operands.data();
}

void EncoderLayers::attention(const AttentionLayer& layer, const RelativePositions* relative, std::vector<float>& x) {
  const std::size_t positions = x.size() / width_;
  const PackedLinear& qkv = layer.qkv.linears.front();
  attention_->reserve(positions);
  for_each_block(positions, [&](PositionBlock block, Lane& lane) {
    attention_->project(qkv, relative, normalized(layer.qkv, x.data() + block.first * width_, block.count, lane), block,
                        *lane.multiplier, lane.inner);
  });
  attention_->run(positions, relative, active_);
  for_each_block(positions, [&](PositionBlock block, Lane& lane) {
    attention_->add_result(layer.out, block, x.data() + block.first * width_, *lane.multiplier, lane.operands);
  });
}

void EncoderLayers::feed_forward(const FeedForwardLayer& layer, Activation activation, std::vector<float>& x) {
  const PackedLinear& up = layer.up.linears.front();
  const std::size_t inner = up.weight.outputs();
  for_each_block(x.size() / width_, [&](PositionBlock block, Lane& lane) {
    float* const rows = x.data() + block.first * width_;
    const std::size_t bytes = block.count * lane.multiplier->row_bytes(inner);
    if (lane.inner.size() < block.count * inner) lane.inner.resize(block.count * inner);
    if (lane.inner_operands.size() < bytes) lane.inner_operands.resize(bytes);
    const LinearProduct first{.weight = up.weight,
                              .rows = block.count,
                              .operands = normalized(layer.up, rows, block.count, lane),
                              .epilogue = {.bias = up.bias.data(), .activation = static_cast<int>(activation)},
                              .y = lane.inner.data()};
    const OutlierColumns& outliers = layer.down_outliers;
    if (outliers.empty()) {
      lane.multiplier->multiply_to_operands(first, lane.inner_operands.data());
    } else {
      lane.multiplier->multiply(first);
      outliers.take(lane.inner.data(), block.count, inner, lane.outliers);
      operands(lane, lane.inner.data(), block.count, inner, inner, lane.inner_operands);
    }
    lane.multiplier->multiply({.weight = layer.down.weight,
                               .rows = block.count,
                               .operands = lane.inner_operands.data(),
                               .epilogue = {.bias = layer.down.bias.data(), .residual = rows},
                               .y = rows});
    if (!outliers.empty()) outliers.add_product(kernels_, lane.outliers, block.count, rows, width_);
  });
}

std::size_t EncoderLayers::memory_bytes() const noexcept {
  std::size_t bytes = attention_->memory_bytes() + zeros_.capacity() * sizeof(float);
  for (const Lane& lane : lanes_) {
    bytes += lane.multiplier->memory_bytes() + lane.operands.capacity() + lane.inner_operands.capacity() +
             (lane.norm.capacity() + lane.inner.capacity() + lane.outliers.capacity()) * sizeof(float);
  }
  return bytes;
}

}  // namespace verbatim::transformer

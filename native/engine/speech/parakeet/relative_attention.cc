#include "speech/parakeet/relative_attention.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "transformer/kernels/kernels.h"

namespace verbatim::parakeet {
namespace {

// Queries whose scores are computed at once.
constexpr std::int64_t kBlock = 128;

std::size_t size_of(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

RelativeAttention::RelativeAttention(const std::shared_ptr<accelerator::WeightStore>& store, std::int64_t state,
                                     std::int64_t heads, int threads)
    : store_(store),
      state_(state),
      heads_(heads),
      width_(state / heads),
      operand_(accelerator::operand_size(store.get())) {
  for (int i = 0; i < threads; ++i) lanes_.emplace_back(store);
}

void RelativeAttention::run(const AttentionWeights& weights, const float* qkv, std::int64_t positions, std::byte* out) {
  for (Lane& lane : lanes_) reserve(lane, positions);
  accelerator::for_each(heads_, static_cast<int>(lanes_.size()), [&](std::int64_t number, std::size_t lane) {
    attend({weights, qkv, positions, number, out}, lanes_[lane]);
  });
}

void RelativeAttention::reserve(Lane& lane, std::int64_t positions) const {
  const auto at_least = [](auto& buffer, std::int64_t size) {
    if (buffer.size() < size_of(size)) buffer.resize(size_of(size));
  };
  const auto operand = static_cast<std::int64_t>(operand_);
  const std::int64_t block = std::min(kBlock, positions);
  for (auto* buffer : {&lane.keys, &lane.values}) at_least(*buffer, positions * width_ * operand);
  for (auto* buffer : {&lane.content_queries, &lane.position_queries}) {
    at_least(*buffer, block * width_ * operand);
  }
  at_least(lane.weights, block * positions * operand);
  at_least(lane.content, block * positions);
  at_least(lane.position, block * (positions + block - 1));
  at_least(lane.row, std::max(width_, static_cast<std::int64_t>(transformer::attention_room(size_of(positions)))));
  at_least(lane.result, block * width_);
}

const float* RelativeAttention::row_of(const Head& head, std::int64_t part, std::int64_t position) const {
  return head.qkv + size_of((3 * position + part) * state_ + head.number * width_);
}

void RelativeAttention::attend(const Head& head, Lane& lane) const {
  const std::size_t width = size_of(width_);
  for (std::int64_t i = 0; i < head.positions; ++i) {
    const std::size_t place = size_of(i) * width * operand_;
    accelerator::to_operands(*store_, row_of(head, 1, i), width, lane.keys.data() + place);
    accelerator::to_operands(*store_, row_of(head, 2, i), width, lane.values.data() + place);
  }
  for (std::int64_t first = 0; first < head.positions; first += kBlock) {
    attend_block(head, first, std::min(kBlock, head.positions - first), lane);
  }
}

// The distance of key j from query i is i - j. Each query's rows of the table begin one row before those of the query
// before it. A block therefore needs count - 1 rows more than a single query.
void RelativeAttention::attend_block(const Head& head, std::int64_t first, std::int64_t count, Lane& lane) const {
  const std::size_t width = size_of(width_);
  const std::size_t row_bytes = width * operand_;
  const auto biased = [&](const std::vector<float>& bias, std::vector<std::byte>& queries) {
    const float* const added = bias.data() + size_of(head.number) * width;
    for (std::int64_t i = 0; i < count; ++i) {
      std::transform(added, added + width, row_of(head, 0, first + i), lane.row.data(), std::plus<>());
      accelerator::to_operands(*store_, lane.row.data(), width, queries.data() + size_of(i) * row_bytes);
    }
  };
  biased(head.weights.content_bias, lane.content_queries);
  biased(head.weights.position_bias, lane.position_queries);

  const PositionTable& table = head.weights.table;
  const std::int64_t distances = head.positions + count - 1;
  const std::int64_t table_row = head.number * (2 * table.positions - 1) + table.positions - first - count;
  lane.multiplier.multiply_by_columns(count, head.positions, width_, lane.content_queries.data(), lane.keys.data(),
                                      lane.content.data());
  lane.multiplier.multiply_by_columns(count, distances, width_, lane.position_queries.data(),
                                      table.operands.data() + size_of(table_row) * row_bytes, lane.position.data());
  const std::size_t positions = size_of(head.positions);
  const float scale = 1.0f / std::sqrt(static_cast<float>(width_));
  for (std::int64_t i = 0; i < count; ++i) {
    transformer::kernels().softmax_of_sum(lane.content.data() + size_of(i) * positions,
                                          lane.position.data() + size_of(i * distances + count - 1 - i), positions,
                                          scale, lane.row.data());
    accelerator::to_operands(*store_, lane.row.data(), positions,
                             lane.weights.data() + size_of(i) * positions * operand_);
  }
  lane.multiplier.multiply_by_rows(count, width_, head.positions, lane.weights.data(), lane.values.data(),
                                   lane.result.data());
  for (std::int64_t i = 0; i < count; ++i) {
    accelerator::to_operands(*store_, lane.result.data() + size_of(i) * width, width,
                             head.out + size_of((first + i) * state_ + head.number * width_) * operand_);
  }
}

std::size_t RelativeAttention::memory_bytes() const noexcept {
  std::size_t sum = 0;
  for (const Lane& lane : lanes_) {
    sum += lane.multiplier.memory_bytes() + lane.keys.capacity() + lane.values.capacity() +
           lane.content_queries.capacity() + lane.position_queries.capacity() + lane.weights.capacity() +
           sizeof(float) *
               (lane.content.capacity() + lane.position.capacity() + lane.row.capacity() + lane.result.capacity());
  }
  return sum;
}

}  // namespace verbatim::parakeet

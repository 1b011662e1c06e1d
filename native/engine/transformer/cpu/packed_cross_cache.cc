#include "transformer/cpu/packed_cross_cache.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace verbatim::transformer {
namespace {

constexpr std::size_t kLine = 64;

std::size_t lines(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

// Writes a key into its block, in groups of four values.
void place_key(std::span<const std::int8_t> key, std::uint8_t* out) {
  for (std::size_t k = 0; k < key.size(); k += 4) {
    std::uint32_t word;
    std::memcpy(&word, key.data() + k, sizeof(word));
    word ^= 0x80808080u;  // adds 128 to each byte
    std::memcpy(out + k * kCrossBlock, &word, sizeof(word));
  }
}

// Interleaves the values of four positions, as one instruction takes them.
void interleave(const std::int8_t* rows, std::size_t size, std::size_t stride, std::int8_t* out) {
  for (std::size_t i = 0; i < size; ++i) {
    std::uint32_t four = 0;
    for (std::size_t j = 0; j < 4; ++j)
      four |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(rows[j * stride + i])) << (8 * j);
    std::memcpy(out + 4 * i, &four, sizeof(four));
  }
}

}  // namespace

PackedCrossCache::PackedCrossCache(const Kernels& kernels, ComputeType type, const AttentionShape& shape,
                                   std::size_t layers, std::size_t positions)
    : CpuCrossCache(kernels, shape, positions),
      type_(type),
      key_bytes_(attention_room(positions) * cross_key_depth(shape.head_size())),
      value_bytes_((positions + 3) / 4 * 4 * cross_value_depth(shape.head_size())),
      scale_bytes_(type == ComputeType::kInt8 ? lines(attention_room(positions) * sizeof(std::uint16_t)) : 0),
      block_((type == ComputeType::kInt8 ? 1 : 2) * layers * shape.heads * (key_bytes_ + value_bytes_) +
                 layers * shape.heads * 2 * scale_bytes_,
             "cross-attention") {
  if (type == ComputeType::kInt8) return;
  key_bytes_ *= 2;
  value_bytes_ *= 2;
}

PackedCrossCache::Head PackedCrossCache::head(std::size_t layer, std::size_t index) const noexcept {
  std::byte* start = block_.data() + (layer * shape().heads + index) * (key_bytes_ + value_bytes_ + 2 * scale_bytes_);
  std::byte* scales = start + key_bytes_ + value_bytes_;
  return {start, start + key_bytes_, reinterpret_cast<std::uint16_t*>(scales),
          reinterpret_cast<std::uint16_t*>(scales + scale_bytes_)};
}

void PackedCrossCache::write(std::size_t layer, std::size_t first, std::span<const float> rows) {
  for (std::size_t index = 0; index < shape().heads; ++index) {
    const std::span<const float> part = rows.subspan(index * shape().head_size());
    type_ == ComputeType::kInt8 ? write_int8(head(layer, index), first, rows.size() / (2 * shape().width), part)
                                : write_bfloat16(head(layer, index), first, rows.size() / (2 * shape().width), part);
  }
}

void PackedCrossCache::write_int8(const Head& target, std::size_t first, std::size_t count,
                                  std::span<const float> rows) const {
  const std::size_t size = shape().head_size(), stride = 2 * shape().width;
  const std::size_t key_depth = cross_key_depth(size), value_depth = cross_value_depth(size);
  auto* keys = reinterpret_cast<std::uint8_t*>(target.keys);
  auto* values = reinterpret_cast<std::int8_t*>(target.values);
  // One key, and the values of four positions.
  std::vector<std::int8_t> key(key_depth), four(4 * size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t position = first + i;
    target.key_scales[position] = kernels().quantize_head(rows.data() + i * stride, size, key.data());
    place_key(key, keys + position / kCrossBlock * kCrossBlock * key_depth + position % kCrossBlock * 4);
    std::int8_t* value = four.data() + position % 4 * size;
    target.value_scales[position] = kernels().quantize_head(rows.data() + i * stride + shape().width, size, value);
    std::int8_t* value_place = values + position / 4 * 4 * value_depth;
    if (position % 4 == 3 && i >= 3) {
      interleave(four.data(), size, size, value_place);
    } else if (position / 4 == (first + count - 1) / 4 || position / 4 == first / 4) {
      // Others may write the other positions of this group of four.
      for (std::size_t k = 0; k < size; ++k) value_place[4 * k + position % 4] = value[k];
    }
  }
}

void PackedCrossCache::write_bfloat16(const Head& target, std::size_t first, std::size_t count,
                                      std::span<const float> rows) const {
  const std::size_t size = shape().head_size(), stride = 2 * shape().width;
  const std::size_t key_depth = cross_key_depth(size), value_depth = cross_value_depth(size);
  auto* keys = reinterpret_cast<std::uint16_t*>(target.keys);
  auto* values = reinterpret_cast<std::uint16_t*>(target.values);
  std::vector<std::uint16_t> key(key_depth);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t position = first + i;
    const float* row = rows.data() + i * stride;
    kernels().round_to_bfloat16(row, size, key.data());
    std::uint16_t* place = keys + position / kCrossBlock * kCrossBlock * key_depth + position % kCrossBlock * 2;
    for (std::size_t k = 0; k < key_depth; k += 2)
      std::memcpy(place + k * kCrossBlock, key.data() + k, 2 * sizeof(std::uint16_t));
    kernels().round_to_bfloat16(row + shape().width, size, values + position * value_depth);
  }
}

void PackedCrossCache::attend(const CrossQuery& query, CrossScratch& scratch) const {
  const std::size_t size = shape().head_size();
  scratch.probabilities.resize(attention_room(positions()));
  scratch.bytes.resize(cross_scratch_bytes(size, positions()));
  scratch.out.resize(cross_value_depth(size));
  const Head source = head(query.layer, query.head);
  PackedAttendCall call;
  call.query = query.query;
  call.head_size = size;
  call.keys = source.keys;
  call.values = source.values;
  call.key_scales = source.key_scales;
  call.value_scales = source.value_scales;
  call.count = positions();
  call.scale = shape().score_scale();
  call.probabilities = scratch.probabilities.data();
  call.scratch = scratch.bytes.data();
  call.out = scratch.out.data();
  type_ == ComputeType::kInt8 ? kernels().attend_packed_int8(call) : kernels().attend_packed_bfloat16(call);
  std::copy_n(scratch.out.data(), size, query.out);
}

}  // namespace verbatim::transformer

#include "transformer/cpu/packed_cross_cache.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "transformer/half.h"

namespace verbatim::transformer {
namespace {

constexpr std::size_t kLine = 64;

std::size_t lines(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

// The smallest bfloat16 that is no smaller: nothing of a row is cut off when it is divided by its scale.
std::uint16_t rounded_up(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0xffffu) >> 16);
}

// Nearest integers, ties to even, of values / scale, which is returned.
std::uint16_t quantize(const float* values, std::size_t size, std::int8_t* out) {
  float peak = 0.0f;
  for (std::size_t i = 0; i < size; ++i) peak = std::max(peak, std::abs(values[i]));
  const std::uint16_t scale = rounded_up(peak / 127.0f);
  const float real = bfloat16_to_float(scale);
  const float factor = real > 0.0f ? 1.0f / real : 0.0f;
  for (std::size_t i = 0; i < size; ++i) {
    // Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
    out[i] = static_cast<std::int8_t>(std::bit_cast<std::int32_t>(values[i] * factor + 12582912.0f));
  }
  return scale;
}

}  // namespace

PackedCrossCache::PackedCrossCache(ComputeType type, const AttentionShape& shape, std::size_t layers,
                                   std::size_t positions)
    : CpuCrossCache(positions),
      type_(type),
      shape_(shape),
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
  std::byte* start =
      block_.data() + (layer * shape_.heads + index) * (key_bytes_ + value_bytes_ + 2 * scale_bytes_);
  std::byte* scales = start + key_bytes_ + value_bytes_;
  return {start, start + key_bytes_, reinterpret_cast<std::uint16_t*>(scales),
          reinterpret_cast<std::uint16_t*>(scales + scale_bytes_)};
}

void PackedCrossCache::write(std::size_t layer, std::size_t first, std::span<const float> rows) {
  const std::size_t size = 2 * shape_.width;
  for (std::size_t index = 0; index < shape_.heads; ++index) {
    const Head target = head(layer, index);
    for (std::size_t i = 0; i < rows.size() / size; ++i) {
      const float* key = rows.data() + i * size + index * shape_.head_size();
      const float* value = key + shape_.width;
      type_ == ComputeType::kInt8 ? write_int8(target, first + i, key, value)
                                  : write_bfloat16(target, first + i, key, value);
    }
  }
}

void PackedCrossCache::write_int8(const Head& target, std::size_t position, const float* key,
                                  const float* value) const {
  const std::size_t size = shape_.head_size();
  const std::size_t key_depth = cross_key_depth(size), value_depth = cross_value_depth(size);
  std::vector<std::int8_t> row(size);
  target.key_scales[position] = quantize(key, size, row.data());
  auto* keys = reinterpret_cast<std::uint8_t*>(target.keys) +
               position / kCrossBlock * kCrossBlock * key_depth + position % kCrossBlock * 4;
  for (std::size_t i = 0; i < size; ++i)
    keys[i / 4 * 4 * kCrossBlock + i % 4] = static_cast<std::uint8_t>(row[i] + 128);
  target.value_scales[position] = quantize(value, size, row.data());
  auto* values =
      reinterpret_cast<std::int8_t*>(target.values) + position / 4 * 4 * value_depth + position % 4;
  for (std::size_t i = 0; i < size; ++i) values[i * 4] = row[i];
}

void PackedCrossCache::write_bfloat16(const Head& target, std::size_t position, const float* key,
                                      const float* value) const {
  const std::size_t size = shape_.head_size();
  auto* keys = reinterpret_cast<std::uint16_t*>(target.keys) +
               position / kCrossBlock * kCrossBlock * cross_key_depth(size) + position % kCrossBlock * 2;
  for (std::size_t i = 0; i < size; ++i) keys[i / 2 * 2 * kCrossBlock + i % 2] = float_to_bfloat16(key[i]);
  std::transform(value, value + size,
                 reinterpret_cast<std::uint16_t*>(target.values) + position * cross_value_depth(size),
                 float_to_bfloat16);
}

void PackedCrossCache::attend(const Kernels& kernels, const CrossQuery& query, CrossScratch& scratch) const {
  const std::size_t size = shape_.head_size();
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
  call.scale = shape_.score_scale();
  call.probabilities = scratch.probabilities.data();
  call.scratch = scratch.bytes.data();
  call.out = scratch.out.data();
  type_ == ComputeType::kInt8 ? kernels.attend_packed_int8(call) : kernels.attend_packed_bfloat16(call);
  std::copy_n(scratch.out.data(), size, query.out);
}

}  // namespace verbatim::transformer

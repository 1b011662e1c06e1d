#include "transformer/cpu/cross_cache.h"

#include <algorithm>
#include <cmath>

#include "transformer/cpu/packed_cross_cache.h"

namespace verbatim::transformer {

Float32CrossCache::Float32CrossCache(const Kernels& kernels, const AttentionShape& shape, std::size_t layers,
                                     std::size_t positions)
    : CpuCrossCache(kernels, shape, positions),
      own_(layers * positions * 2 * shape.width * sizeof(float), "cross-attention") {
  for (std::size_t layer = 0; layer < layers; ++layer)
    add_layer(reinterpret_cast<float*>(own_.data()) + layer * positions * 2 * shape.width);
}

Float32CrossCache::Float32CrossCache(const Kernels& kernels, const AttentionShape& shape,
                                     std::span<float* const> layers, std::size_t positions)
    : CpuCrossCache(kernels, shape, positions) {
  for (float* rows : layers) add_layer(rows);
}

void Float32CrossCache::add_layer(float* rows) {
  for (std::size_t i = 0; i < positions(); ++i) rows_.push_back(rows + i * 2 * shape().width);
}

void Float32CrossCache::write(std::size_t layer, std::size_t first, std::span<const float> rows) {
  std::ranges::copy(rows, rows_[layer * positions() + first]);
}

void Float32CrossCache::attend(const CrossQuery& query, CrossScratch& scratch) const {
  scratch.probabilities.resize(attention_room(positions()));
  AttendCall call;
  call.query = query.query;
  call.head_size = shape().head_size();
  call.rows = reinterpret_cast<const void* const*>(rows_.data() + query.layer * positions());
  call.key_offset = query.head * call.head_size;
  call.value_offset = shape().width + call.key_offset;
  call.count = positions();
  call.ahead = call.head_size;
  call.scale = shape().score_scale();
  call.probabilities = scratch.probabilities.data();
  call.out = query.out;
  kernels().attend_float32(call);
}

std::unique_ptr<CpuCrossCache> make_cross_cache(const Kernels& kernels, ComputeType type, const AttentionShape& shape,
                                                std::size_t layers, std::size_t positions) {
  if (type == ComputeType::kFloat32) return std::make_unique<Float32CrossCache>(kernels, shape, layers, positions);
  return std::make_unique<PackedCrossCache>(kernels, type, shape, layers, positions);
}

}  // namespace verbatim::transformer

#include "transformer/gpu/sources.h"

#include <algorithm>
#include <utility>

namespace verbatim::transformer {
namespace {

constexpr std::size_t kFewestSlots = 4;
// Rows of values begin at an address from which every kernel can read fast.
constexpr std::size_t kPositionBlock = 32;

}  // namespace

GpuSources::GpuSources(std::shared_ptr<GpuDevice> device, const Transformer& model, ggml_type type)
    : device_(std::move(device)),
      heads_(static_cast<std::size_t>(model.decoder.heads)),
      head_size_(model.width / heads_),
      type_(type),
      keys_(model.decoder.layers.size()),
      values_(model.decoder.layers.size()),
      write_memory_(device_->new_allocator()) {}

std::vector<std::unique_ptr<GpuCrossCache>> GpuSources::make(std::span<const std::size_t> positions) {
  const auto lock = device_->lock();
  const std::size_t longest = std::ranges::max(positions);
  reserve((longest + kPositionBlock - 1) / kPositionBlock * kPositionBlock, positions.size());
  const std::vector<std::int32_t> slots = slots_.take(positions.size());
  std::vector<std::unique_ptr<GpuCrossCache>> caches;
  for (std::size_t i = 0; i < slots.size(); ++i)
    caches.push_back(std::make_unique<GpuCrossCache>(shared_from_this(), slots[i], positions[i]));
  clear(slots);
  return caches;
}

void GpuSources::reserve(std::size_t positions, std::size_t count) {
  const std::size_t used = slots_.used(), present = slots_.count();
  const std::size_t needed = std::max(used + count, kFewestSlots);
  const std::size_t most = std::max(needed, std::exchange(most_, used == 0 ? needed : std::max(most_, needed)));
  if (used == 0 && (positions != positions_ || needed > present || present > 2 * most)) {
    resize(positions, most, false);
  } else if (positions > positions_ || needed > present) {
    resize(std::max(positions, positions_), needed > present ? std::max(needed, 2 * present) : present, true);
  }
}

void GpuSources::resize(std::size_t positions, std::size_t count, bool keep) {
  ++version_;
  if (!keep) slots_.resize(0);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    keys_[i].resize(*device_, type_, {head_size_, positions, heads_, count}, keep);
    values_[i].resize(*device_, type_, {positions, head_size_, heads_, count}, keep);
  }
  slots_.resize(count);
  positions_ = positions;
  slot_bytes_ = keys_.size() * 2 * ggml_row_size(type_, dim(head_size_ * heads_ * positions));
}

// Padding must hold finite numbers, because 0 * NaN is NaN, and the slot's last user may have left others. Slots:
// ascending; consecutive ones are cleared together.
void GpuSources::clear(std::span<const std::int32_t> slots) {
  for (std::size_t begin = 0, end = 0; begin < slots.size(); begin = end) {
    while (end < slots.size() && slots[end] - slots[begin] == static_cast<std::int32_t>(end - begin)) ++end;
    for (const auto* tables : {&keys_, &values_}) {
      for (const GpuTable& table : *tables) {
        const std::size_t bytes = table.tensor()->nb[3];
        device_->clear(table.tensor(), static_cast<std::size_t>(slots[begin]) * bytes, (end - begin) * bytes);
      }
    }
  }
}

void GpuSources::add_write(ggml_context* context, ggml_cgraph* nodes, std::size_t slot, std::size_t count,
                           std::size_t layer, std::size_t first, ggml_tensor* rows) const {
  const std::size_t positions = static_cast<std::size_t>(rows->ne[1]) / count;
  const std::size_t size = head_size_ * sizeof(float), width = heads_ * head_size_;
  const auto part = [&](std::size_t index) {
    return ggml_view_4d(context, rows, dim(head_size_), dim(heads_), dim(positions), dim(count), size, rows->nb[1],
                        rows->nb[1] * positions, index * width * sizeof(float));
  };
  ggml_tensor* keys = this->keys(layer);
  ggml_tensor* values = this->values(layer);
  ggml_tensor* key_place =
      ggml_view_4d(context, keys, dim(head_size_), dim(positions), dim(heads_), dim(count), keys->nb[1], keys->nb[2],
                   keys->nb[3], slot * keys->nb[3] + first * keys->nb[1]);
  ggml_tensor* value_place =
      ggml_view_4d(context, values, dim(positions), dim(head_size_), dim(heads_), dim(count), values->nb[1],
                   values->nb[2], values->nb[3], slot * values->nb[3] + first * values->nb[0]);
  ggml_build_forward_expand(nodes, ggml_cpy(context, ggml_permute(context, part(0), 0, 2, 1, 3), key_place));
  ggml_build_forward_expand(nodes, ggml_cpy(context, ggml_permute(context, part(1), 1, 2, 0, 3), value_place));
}

void GpuSources::write(std::size_t slot, std::size_t layer, std::size_t first, std::span<const float> rows) {
  const std::size_t row = 2 * heads_ * head_size_;
  const auto lock = device_->lock();
  GpuGraph graph = new_gpu_graph(16);
  graph.input = add_input(graph, GGML_TYPE_F32, row, rows.size() / row);
  add_write(graph.context.get(), graph.nodes, slot, 1, layer, first, graph.input);
  device_->allocate(graph.nodes, write_memory_.get());
  write_bytes_ = ggml_gallocr_get_buffer_size(write_memory_.get(), 0);
  device_->upload(graph.input, rows.data(), rows.size_bytes());
  device_->compute(graph.nodes);
}

std::size_t GpuSources::spare_bytes() const { return (slots_.count() - slots_.used()) * slot_bytes() + write_bytes_; }

}  // namespace verbatim::transformer

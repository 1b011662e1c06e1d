#include "transformer/gpu/histories.h"

#include <algorithm>
#include <utility>

namespace verbatim::transformer {
namespace {

constexpr std::size_t kFewestSlots = 256;

}  // namespace

GpuHistories::GpuHistories(std::shared_ptr<GpuDevice> device, const Transformer& model, ggml_type type)
    : device_(std::move(device)),
      width_(model.width),
      type_(type),
      row_bytes_(ggml_row_size(type, dim(2 * model.width))),
      tables_(model.decoder.layers.size()) {}

bool GpuHistories::reserve(std::size_t count) {
  const std::size_t present = slots_.count(), used = slots_.used();
  const std::size_t needed = std::max(used + count, kFewestSlots);
  const std::size_t most = std::max(needed, std::exchange(most_, used == 0 ? needed : std::max(most_, needed)));
  // Doubles the size, so that tables seldom move.
  if (needed > present) return resize(std::max(needed, 2 * present), used > 0), true;
  if (used > 0 || present < 4 * most) return false;
  return resize(2 * most, false), true;
}

void GpuHistories::resize(std::size_t count, bool keep) {
  if (!keep) slots_.resize(0);
  for (GpuTable& table : tables_) table.resize(*device_, type_, {2 * width_, count, 1, 1}, keep);
  slots_.resize(count);
}

std::size_t GpuHistories::spare_bytes() const { return (slots_.count() - slots_.used()) * slot_bytes(); }

std::unique_ptr<History> GpuHistory::fork() const {
  auto copy = std::make_unique<GpuHistory>(all_);
  copy->slots_ = slots_;
  all_->slots().share(slots_);
  return copy;
}

void GpuHistory::truncate(std::size_t length) noexcept {
  all_->slots().release(slots().subspan(length));
  slots_.resize(length);
}

}  // namespace verbatim::transformer

#include "transformer/cpu/history.h"

#include <algorithm>
#include <new>
#include <utility>

#include "transformer/cpu/huge_block.h"

namespace verbatim::transformer {
namespace {

constexpr std::size_t kLine = 64;
// A chunk is one huge page, or fewer slots where a few texts need less.
constexpr std::size_t kMostChunkBytes = 2u << 20, kMostChunkSlots = 256;

std::size_t slots_of_chunk(std::size_t slot_bytes) {
  return std::clamp<std::size_t>(kMostChunkBytes / slot_bytes, 1, kMostChunkSlots);
}

}  // namespace

// Consecutive slots, in huge pages where the system grants them.
class HistoryChunk {
 public:
  explicit HistoryChunk(std::size_t slot_bytes)
      : slot_bytes_(slot_bytes),
        capacity_(slots_of_chunk(slot_bytes)),
        block_(capacity_ * slot_bytes, "the keys and values of texts") {}

  bool is_full() const noexcept { return !free_ && fresh_ == capacity_; }
  bool is_empty() const noexcept { return used_ == 0; }
  std::size_t bytes() const noexcept { return block_.size(); }

  // The chunk must not be full.
  HistorySlot* take(HistorySlot* before) noexcept {
    void* place = free_;
    if (free_) {
      free_ = free_->before;
    } else {
      place = block_.data() + fresh_++ * slot_bytes_;
    }
    ++used_;
    auto* slot = new (place) HistorySlot;
    slot->before = before;
    slot->chunk = this;
    return slot;
  }

  void free_slot(HistorySlot* slot) noexcept {
    slot->before = free_;
    free_ = slot;
    --used_;
  }

 private:
  std::size_t slot_bytes_;
  std::size_t capacity_;
  HugeBlock block_;
  // free_: a list of released slots, linked by `before`. Slots that were never used follow the first `fresh_` slots.
  HistorySlot* free_ = nullptr;
  std::size_t fresh_ = 0;
  std::size_t used_ = 0;
};

HistoryMemory::HistoryMemory(std::size_t slot_bytes, std::size_t most_spare_bytes)
    : slot_bytes_((kHeader + slot_bytes + kLine - 1) / kLine * kLine), most_spare_(most_spare_bytes) {}

HistoryMemory::~HistoryMemory() = default;

HistorySlot* HistoryMemory::take(HistorySlot* before) {
  const std::lock_guard lock(mutex_);
  auto chunk = std::ranges::find_if(chunks_, [](const auto& each) { return !each->is_full(); });
  if (chunk == chunks_.end()) {
    chunks_.push_back(std::make_unique<HistoryChunk>(slot_bytes_));
    chunk = chunks_.end() - 1;
    reserved_ += (*chunk)->bytes();
  }
  ++used_;
  return (*chunk)->take(before);
}

void HistoryMemory::release(HistorySlot* slot) noexcept {
  while (slot && slot->users.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    HistorySlot* before = slot->before;
    free_slot(slot);
    slot = before;
  }
}

void HistoryMemory::free_slot(HistorySlot* slot) noexcept {
  const std::lock_guard lock(mutex_);
  HistoryChunk* chunk = slot->chunk;
  chunk->free_slot(slot);
  --used_;
  if (!chunk->is_empty() || unused_bytes() <= most_spare_) return;
  reserved_ -= chunk->bytes();
  std::erase_if(chunks_, [&](const auto& each) { return each.get() == chunk; });
}

std::size_t HistoryMemory::spare_bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return unused_bytes();
}

std::size_t HistoryMemory::used_bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return used_ * slot_bytes_;
}

CpuHistory::~CpuHistory() { memory_->release(last()); }

std::unique_ptr<History> CpuHistory::fork() const {
  auto copy = std::make_unique<CpuHistory>(memory_);
  copy->data_ = data_;
  copy->slots_ = slots_;
  if (HistorySlot* slot = last()) slot->users.fetch_add(1, std::memory_order_relaxed);
  return copy;
}

std::size_t CpuHistory::memory_bytes() const noexcept {
  std::size_t own = 0;
  while (own < slots_.size() && slots_[slots_.size() - 1 - own]->users.load(std::memory_order_relaxed) == 1) ++own;
  return own * memory_->slot_bytes();
}

void CpuHistory::append() {
  if (slots_.size() == slots_.capacity()) {
    const std::size_t room = std::max<std::size_t>(32, 2 * slots_.size());
    data_.reserve(room);
    slots_.reserve(room);
  }
  HistorySlot* slot = memory_->take(last());
  slots_.push_back(slot);
  data_.push_back(HistoryMemory::data(slot));
}

void CpuHistory::truncate(std::size_t length) noexcept {
  if (length == slots_.size()) return;
  HistorySlot* dropped = slots_.back();
  slots_.resize(length);
  data_.resize(length);
  if (HistorySlot* kept = last()) kept->users.fetch_add(1, std::memory_order_relaxed);
  memory_->release(dropped);
}

}  // namespace verbatim::transformer

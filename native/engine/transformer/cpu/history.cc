#include "transformer/cpu/history.h"

#include <algorithm>
#include <new>
#include <utility>

#include "error.h"

namespace verbatim::transformer {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

HistoryMemory::~HistoryMemory() {
  for (HistorySlot* slot : spare_) ::operator delete(slot, kAlignment);
}

HistorySlot* HistoryMemory::take(HistorySlot* before) {
  void* memory = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      memory = spare_.back();
      spare_.pop_back();
    }
    ++used_;
  }
  if (!memory) memory = ::operator new(slot_bytes(), kAlignment, std::nothrow);
  if (!memory) {
    const std::lock_guard lock(mutex_);
    --used_;
    throw EngineError(ErrorCode::kOutOfMemory, "no memory for the keys and values of a token");
  }
  auto* slot = new (memory) HistorySlot;
  slot->before = before;
  return slot;
}

void HistoryMemory::release(HistorySlot* slot) noexcept {
  while (slot && slot->users.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    HistorySlot* before = slot->before;
    give_back(slot);
    slot = before;
  }
}

void HistoryMemory::give_back(HistorySlot* slot) noexcept {
  {
    const std::lock_guard lock(mutex_);
    --used_;
    if (spare_.size() < most_spare_) {
      try {
        spare_.push_back(slot);
        return;
      } catch (const std::bad_alloc&) {
        // Then it is not kept.
      }
    }
  }
  ::operator delete(slot, kAlignment);
}

std::size_t HistoryMemory::spare_bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return spare_.size() * slot_bytes();
}

std::size_t HistoryMemory::used_bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return used_ * slot_bytes();
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
  while (own < slots_.size() && slots_[slots_.size() - 1 - own]->users.load(std::memory_order_relaxed) == 1)
    ++own;
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

#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "transformer/decoder.h"

namespace verbatim::transformer {

class HistoryChunk;

// The keys and values of one token, for every layer; `before` is the token in front of it. Texts with the same
// beginning share slots: a slot lives as long as a text ends with it or another slot follows it.
struct HistorySlot {
  std::atomic<int> users{1};
  HistorySlot* before = nullptr;
  HistoryChunk* chunk = nullptr;
};

// Memory for the slots of one decoder, in chunks of at most some megabytes. Safe to use from many threads.
class HistoryMemory {
 public:
  // slot_bytes: bytes of a slot. most_spare_bytes: when more unused bytes are held, chunks without a used slot are
  // freed.
  HistoryMemory(std::size_t slot_bytes, std::size_t most_spare_bytes);
  ~HistoryMemory();
  HistoryMemory(const HistoryMemory&) = delete;
  HistoryMemory& operator=(const HistoryMemory&) = delete;

  // A new slot behind `before`, which may be null; it takes over the caller's use of `before`. Throws EngineError
  // kOutOfMemory.
  HistorySlot* take(HistorySlot* before);
  // Removes one user of the slot. Null is ignored.
  void release(HistorySlot* slot) noexcept;

  // Bytes of a slot, its header included.
  std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  // Bytes held for later slots, and bytes of slots in use.
  std::size_t spare_bytes() const noexcept;
  std::size_t used_bytes() const noexcept;

  static std::byte* data(HistorySlot* slot) noexcept { return reinterpret_cast<std::byte*>(slot) + kHeader; }

  // One cache line. It makes consecutive slots differ in their offset within a page; otherwise all keys of a head would
  // compete for the same few places in the processor's caches.
  static constexpr std::size_t kHeader = 64;

 private:
  void free_slot(HistorySlot* slot) noexcept;
  std::size_t unused_bytes() const noexcept { return reserved_ - used_ * slot_bytes_; }

  const std::size_t slot_bytes_;
  const std::size_t most_spare_;
  mutable std::mutex mutex_;
  // Slots are taken from the first chunk with room, so that the last chunks become empty.
  std::vector<std::unique_ptr<HistoryChunk>> chunks_;
  // Bytes of all chunks, and slots in use.
  std::size_t reserved_ = 0;
  std::size_t used_ = 0;
};

class CpuHistory final : public History {
 public:
  explicit CpuHistory(std::shared_ptr<HistoryMemory> memory) : memory_(std::move(memory)) {}
  ~CpuHistory() override;
  CpuHistory(const CpuHistory&) = delete;
  CpuHistory& operator=(const CpuHistory&) = delete;

  std::size_t length() const noexcept override { return data_.size(); }
  std::unique_ptr<History> fork() const override;
  std::size_t memory_bytes() const noexcept override;

  // Makes room for one more token's keys and values. Throws EngineError kOutOfMemory.
  void append();
  // Drops the last tokens. length <= length().
  void truncate(std::size_t length) noexcept;
  // Per token: [layers][2 * width] elements, the keys before the values. Valid until the history changes.
  std::byte* const* data() const noexcept { return data_.data(); }

 private:
  HistorySlot* last() const noexcept { return slots_.empty() ? nullptr : slots_.back(); }

  std::shared_ptr<HistoryMemory> memory_;
  std::vector<HistorySlot*> slots_;
  std::vector<std::byte*> data_;
};

}  // namespace verbatim::transformer

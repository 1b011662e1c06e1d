#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "transformer/decoder.h"

namespace verbatim::transformer {

class HistoryChunk;

// The keys and values of one token, for every layer; `before` is the token in front of it. Texts that begin
// the same share their slots: a slot lives as long as a text ends with it or another slot stands behind it.
struct HistorySlot {
  std::atomic<int> users{1};
  HistorySlot* before = nullptr;
  HistoryChunk* chunk = nullptr;
};

// Memory for the slots of one decoder, in chunks of some megabytes at most. Safe to use from many threads.
class HistoryMemory {
 public:
  // slot_bytes: what a slot holds. most_spare_bytes: when there is more that no slot uses, chunks without any
  // slot in use are given back.
  HistoryMemory(std::size_t slot_bytes, std::size_t most_spare_bytes);
  ~HistoryMemory();
  HistoryMemory(const HistoryMemory&) = delete;
  HistoryMemory& operator=(const HistoryMemory&) = delete;

  // A slot behind `before`, which may be null; its user becomes the slot. Throws EngineError kOutOfMemory.
  HistorySlot* take(HistorySlot* before);
  // One user of the slot less. Null: nothing happens.
  void release(HistorySlot* slot) noexcept;

  // With what it takes to keep it.
  std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  // Bytes kept for slots to come, and of those in use.
  std::size_t spare_bytes() const noexcept;
  std::size_t used_bytes() const noexcept;

  static std::byte* data(HistorySlot* slot) noexcept { return reinterpret_cast<std::byte*>(slot) + kHeader; }

  // A cache line: slots that lie behind each other then differ in where they stand in a page, or the caches
  // would have the same few places for all keys of a head.
  static constexpr std::size_t kHeader = 64;

 private:
  void give_back(HistorySlot* slot) noexcept;
  std::size_t unused_bytes() const noexcept { return reserved_ - used_ * slot_bytes_; }

  const std::size_t slot_bytes_;
  const std::size_t most_spare_;
  mutable std::mutex mutex_;
  // Slots are taken from the first chunk that has one, so that the last ones become empty.
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

  // Room for one more token's keys and values. Throws EngineError kOutOfMemory.
  void append();
  // Forgets the last tokens. length <= length().
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

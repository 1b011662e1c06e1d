#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transformer/decoder.h"
#include "transformer/gpu/device.h"
#include "transformer/gpu/slots.h"
#include "transformer/gpu/table.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

// The self-attention keys and values of all texts of one decoder. Each layer has a table [2 * width, slots] with a slot
// for each token. Texts with the same beginning share slots; nothing is copied when they diverge.
class GpuHistories {
 public:
  GpuHistories(std::shared_ptr<GpuDevice> device, const Transformer& model, ggml_type type);

  // Makes room for `count` more tokens. If no text is left, frees the room that the last ones did not need. Returns
  // true if the tables moved, which makes graphs on them invalid. The device must be locked. Throws EngineError
  // kOutOfMemory; the tables may have moved then too.
  bool reserve(std::size_t count);
  ggml_tensor* layer(std::size_t index) const noexcept { return tables_[index].tensor(); }
  Slots& slots() noexcept { return slots_; }

  // Bytes of one slot in all layers.
  std::size_t slot_bytes() const noexcept { return tables_.size() * row_bytes_; }
  // Bytes of all texts.
  std::size_t bytes() const { return slots_.used() * slot_bytes(); }
  // Bytes kept for later tokens.
  std::size_t spare_bytes() const;

 private:
  void resize(std::size_t count, bool keep);

  std::shared_ptr<GpuDevice> device_;
  std::size_t width_;
  ggml_type type_;
  std::size_t row_bytes_;
  std::vector<GpuTable> tables_;
  Slots slots_;
  // Most slots in use since no text was left.
  std::size_t most_ = 0;
};

class GpuHistory final : public History {
 public:
  explicit GpuHistory(std::shared_ptr<GpuHistories> all) : all_(std::move(all)) {}
  ~GpuHistory() override { all_->slots().release(slots_); }
  GpuHistory(const GpuHistory&) = delete;
  GpuHistory& operator=(const GpuHistory&) = delete;

  std::size_t length() const noexcept override { return slots_.size(); }
  std::unique_ptr<History> fork() const override;
  std::size_t memory_bytes() const noexcept override { return all_->slots().unshared(slots_) * all_->slot_bytes(); }

  // The history becomes the slot's user.
  void append(std::int32_t slot) { slots_.push_back(slot); }
  // Drops the last tokens. length <= length().
  void truncate(std::size_t length) noexcept;
  // In the order of the text.
  std::span<const std::int32_t> slots() const noexcept { return slots_; }

 private:
  std::shared_ptr<GpuHistories> all_;
  std::vector<std::int32_t> slots_;
};

}  // namespace verbatim::transformer

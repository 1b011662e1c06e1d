#pragma once

#include <atomic>
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

class GpuCrossCache;

// The cross-attention keys and values of all sources of one decoder. For each layer: keys [head_size, positions, heads,
// slots] and transposed values [positions, head_size, heads, slots]. Each source has a slot; `positions` is that of the
// longest.
class GpuSources : public std::enable_shared_from_this<GpuSources> {
 public:
  GpuSources(std::shared_ptr<GpuDevice> device, const Transformer& model, ggml_type type);

  // Makes sources of so many positions each. If no source was left, their slots are consecutive, and room that the last
  // ones did not need is freed. Throws EngineError kOutOfMemory.
  std::vector<std::unique_ptr<GpuCrossCache>> make(std::span<const std::size_t> positions);
  // Adds a write to the graph: keys and values float32 [2 * width, positions * count] of `count` sources in consecutive
  // slots, at positions from `first` on. The device must be locked.
  void add_write(ggml_context* context, ggml_cgraph* nodes, std::size_t slot, std::size_t count, std::size_t layer,
                 std::size_t first, ggml_tensor* rows) const;
  // Writes the same from the host, immediately, for one source.
  void write(std::size_t slot, std::size_t layer, std::size_t first, std::span<const float> rows);
  // Locks the device.
  std::unique_lock<std::mutex> lock() const { return device_->lock(); }
  void release(std::int32_t slot) noexcept { slots_.release({&slot, 1}); }

  ggml_tensor* keys(std::size_t layer) const noexcept { return keys_[layer].tensor(); }
  ggml_tensor* values(std::size_t layer) const noexcept { return values_[layer].tensor(); }
  // Positions of a slot, padding included, and number of slots. The device must be locked.
  std::size_t positions() const noexcept { return positions_; }
  std::size_t slots() const { return slots_.count(); }
  // Changes whenever the tables move, which makes graphs on them invalid. The device must be locked.
  std::size_t version() const noexcept { return version_; }

  std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  // Bytes kept for later sources and for writing them.
  std::size_t spare_bytes() const;

 private:
  void reserve(std::size_t positions, std::size_t count);
  void resize(std::size_t positions, std::size_t count, bool keep);
  void clear(std::span<const std::int32_t> slots);

  std::shared_ptr<GpuDevice> device_;
  std::size_t heads_;
  std::size_t head_size_;
  ggml_type type_;
  std::vector<GpuTable> keys_;
  std::vector<GpuTable> values_;
  std::size_t positions_ = 0;
  std::atomic<std::size_t> slot_bytes_{0};
  std::size_t version_ = 0;
  // Most slots in use since no source was left.
  std::size_t most_ = 0;
  Slots slots_;
  ggml_gallocr_ptr write_memory_;
  std::atomic<std::size_t> write_bytes_{0};
};

class GpuCrossCache final : public CrossCache {
 public:
  GpuCrossCache(std::shared_ptr<GpuSources> all, std::int32_t slot, std::size_t positions)
      : all_(std::move(all)), slot_(slot), positions_(positions) {}
  ~GpuCrossCache() override { all_->release(slot_); }
  GpuCrossCache(const GpuCrossCache&) = delete;
  GpuCrossCache& operator=(const GpuCrossCache&) = delete;

  std::size_t positions() const noexcept override { return positions_; }
  void write(std::size_t layer, std::size_t first, std::span<const float> rows) override {
    all_->write(slot(), layer, first, rows);
  }
  std::size_t memory_bytes() const noexcept override { return all_->slot_bytes(); }
  std::size_t slot() const noexcept { return static_cast<std::size_t>(slot_); }
  // For an encoder on the same device, whose output can stay there.
  const GpuSources& sources() const noexcept { return *all_; }

 private:
  std::shared_ptr<GpuSources> all_;
  std::int32_t slot_;
  std::size_t positions_;
};

}  // namespace verbatim::transformer

#pragma once

#include <ggml-backend.h>

#include <list>
#include <memory>
#include <span>
#include <vector>

#include "transformer/appended.h"
#include "transformer/cache_types.h"
#include "transformer/decoder.h"
#include "transformer/embedder.h"
#include "transformer/gpu/decoder_graph.h"
#include "transformer/gpu/weights.h"

namespace verbatim::transformer {

// The decoder in ggml's own operations, on any ggml backend device; it must be the weights' device. Caches are kept in
// float32 or float16. `model` and `weights` must outlive the decoder. Throws EngineError kOutOfMemory; kInvalidArgument
// for an unsupported cache type.
//
// A row's result depends on the other rows by rounding, because a device multiplies matrices of other sizes in another
// order.
std::unique_ptr<Decoder> make_gpu_decoder(const Transformer& model, const GpuWeights& weights, CacheTypes types,
                                          ggml_backend_dev_t backend_device);

class GpuDecoder final : public Decoder {
 public:
  GpuDecoder(const Transformer& model, const GpuWeights& weights, CacheTypes types, ggml_backend_dev_t backend_device);

  // Another decoder of the same model that reads this one's sources, so that either may make a source. They take turns
  // on the device. Each counts the room kept for later sources.
  std::unique_ptr<Decoder> make_sibling() const;

  std::unique_ptr<CrossCache> make_cross_cache(std::size_t positions) override;
  std::unique_ptr<History> make_history() override;
  // Also throws EngineError kInvalidArgument for a token, a position or a head that the model does not have. `threads`
  // counts only where the device is a processor. Callbacks run on the caller's thread alone and must not make or write
  // caches. `abort` is polled before each run of a graph. A step with one token of each text is one run for every 256
  // texts; known texts are cut into runs of at most 64 tokens each.
  void step(std::span<const DecoderInput> rows, const LogitsCallback& on_logits, int threads,
            const AttentionRecord* record, const AbortFlag* abort) override;
  std::size_t memory_bytes() const noexcept override;

  // Bytes of all histories.
  std::size_t history_bytes() const noexcept { return histories_->bytes(); }
  // For an encoder on the same device, whose output can stay there.
  GpuDevice& device() noexcept { return *device_; }
  GpuSources& sources() noexcept { return *sources_; }

 private:
  // Number of kept graphs: the shapes used last, the last one first.
  static constexpr std::size_t kMostGraphs = 4;

  GpuDecoder(const Transformer& model, const GpuWeights& weights, CacheTypes types,
             const std::shared_ptr<GpuDevice>& device);
  GpuDecoder(const Transformer& model, const GpuWeights& weights, CacheTypes types, std::shared_ptr<GpuDevice> device,
             std::shared_ptr<GpuSources> sources);

  void check(const AttentionRecord& record) const;
  void append(std::span<const DecoderInput> rows, Appended<GpuHistory>& appended);
  std::vector<GpuRun> plan(std::span<const DecoderInput> rows, const AttentionRecord* record);
  GpuDecoderGraph& graph_for(const GpuDecoderShape& shape);

  CacheTypes types_;
  std::shared_ptr<GpuDevice> device_;
  std::shared_ptr<GpuHistories> histories_;
  std::shared_ptr<GpuSources> sources_;
  GpuDecoderParts parts_;
  Embedder embedder_;
  std::list<GpuDecoderGraph> graphs_;
  // Version of the sources' tables that the graphs were built on.
  std::size_t version_ = 0;
  std::vector<float> logits_;
};

}  // namespace verbatim::transformer

#include "transformer/gpu/decoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "error.h"

namespace verbatim::transformer {
namespace {

void check_abort(const AbortFlag* abort) {
  if (abort && abort->is_set()) throw EngineError(ErrorCode::kAborted, "the computation was aborted");
}

std::shared_ptr<GpuSources> make_sources(const std::shared_ptr<GpuDevice>& device, const Transformer& model,
                                         ComputeType type) {
  return std::make_shared<GpuSources>(device, model, cache_element_type(type, "cross-attention"));
}

}  // namespace

GpuDecoder::GpuDecoder(const Transformer& model, const GpuWeights& weights, CacheTypes types,
                       std::shared_ptr<GpuDevice> device, std::shared_ptr<GpuSources> sources)
    : types_(types),
      device_(std::move(device)),
      histories_(std::make_shared<GpuHistories>(device_, model, cache_element_type(types.history, "self-attention"))),
      sources_(std::move(sources)),
      parts_{model, weights, *device_, *histories_, *sources_},
      embedder_(model.decoder, weights.type()) {}

GpuDecoder::GpuDecoder(const Transformer& model, const GpuWeights& weights, CacheTypes types,
                       ggml_backend_dev_t backend_device)
    : GpuDecoder(model, weights, types, std::make_shared<GpuDevice>(backend_device)) {}

GpuDecoder::GpuDecoder(const Transformer& model, const GpuWeights& weights, CacheTypes types,
                       const std::shared_ptr<GpuDevice>& device)
    : GpuDecoder(model, weights, types, device, make_sources(device, model, types.cross)) {}

std::unique_ptr<Decoder> GpuDecoder::make_sibling() const {
  return std::unique_ptr<Decoder>(new GpuDecoder(parts_.model, parts_.weights, types_, device_, sources_));
}

std::unique_ptr<CrossCache> GpuDecoder::make_cross_cache(std::size_t positions) {
  return std::move(sources_->make({&positions, 1}).front());
}

std::unique_ptr<History> GpuDecoder::make_history() { return std::make_unique<GpuHistory>(histories_); }

std::size_t GpuDecoder::memory_bytes() const noexcept {
  std::size_t bytes = logits_.capacity() * sizeof(float) + histories_->spare_bytes() + sources_->spare_bytes();
  for (const GpuDecoderGraph& graph : graphs_) bytes += graph.memory_bytes();
  return bytes;
}

void GpuDecoder::step(std::span<const DecoderInput> rows, const LogitsCallback& on_logits, int threads,
                      const AttentionRecord* record, const AbortFlag* abort) {
  if (record) check(*record);
  check_abort(abort);
  const auto lock = device_->lock();
  device_->set_threads(threads);
  Appended<GpuHistory> appended;
  append(rows, appended);
  const std::size_t vocabulary = parts_.model.projection.weight.rows;
  for (const GpuRun& run : plan(rows, record)) {
    check_abort(abort);
    GpuDecoderGraph& graph = graph_for(run.shape);
    graph.run(run, rows, embedder_);
    graph.read_logits(logits_, run.wanted.size());
    for (std::size_t i = 0; i < run.wanted.size(); ++i)
      on_logits(run.wanted_rows[i], std::span(logits_).subspan(i * vocabulary, vocabulary));
    if (record) graph.show(run, rows, record->on_weights);
  }
  appended.keep();
}

void GpuDecoder::check(const AttentionRecord& record) const {
  const TransformerStack& stack = parts_.model.decoder;
  for (const AttentionHead& head : record.heads) {
    if (head.layer < stack.layers.size() && head.head < static_cast<std::size_t>(stack.heads)) continue;
    throw EngineError(ErrorCode::kInvalidArgument, "no head " + std::to_string(head.head) + " in layer " +
                                                       std::to_string(head.layer) + "; there are " +
                                                       std::to_string(stack.heads) + " in each of " +
                                                       std::to_string(stack.layers.size()));
  }
}

void GpuDecoder::append(std::span<const DecoderInput> rows, Appended<GpuHistory>& appended) {
  bool moved = true;
  try {
    moved = histories_->reserve(rows.size() + most_padding(rows.size()));
  } catch (const EngineError&) {
    graphs_.clear();
    throw;
  }
  if (moved) graphs_.clear();
  for (const DecoderInput& row : rows) {
    auto& history = static_cast<GpuHistory&>(*row.history);
    embedder_.check(row.token, history.length());
    appended.add(history, histories_->slots().take(1).front());
  }
}

std::vector<GpuRun> GpuDecoder::plan(std::span<const DecoderInput> rows, const AttentionRecord* record) {
  if (version_ != sources_->version()) graphs_.clear();
  version_ = sources_->version();
  const std::span<const AttentionHead> recorded = record ? record->heads : std::span<const AttentionHead>();
  return plan_runs(rows, sources_->slots(), sources_->positions(), recorded);
}

GpuDecoderGraph& GpuDecoder::graph_for(const GpuDecoderShape& shape) {
  const auto found =
      std::ranges::find_if(graphs_, [&](const GpuDecoderGraph& graph) { return graph.shape() == shape; });
  if (found != graphs_.end()) {
    graphs_.splice(graphs_.begin(), graphs_, found);
  } else {
    if (graphs_.size() == kMostGraphs) graphs_.pop_back();
    graphs_.emplace_front(parts_, shape);
  }
  return graphs_.front();
}

std::unique_ptr<Decoder> make_gpu_decoder(const Transformer& model, const GpuWeights& weights, CacheTypes types,
                                          ggml_backend_dev_t backend_device) {
  return std::make_unique<GpuDecoder>(model, weights, types, backend_device);
}

}  // namespace verbatim::transformer

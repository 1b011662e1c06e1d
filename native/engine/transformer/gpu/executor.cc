#include "transformer/gpu/executor.h"

#include <ggml.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include "error.h"
#include "transformer/embedder.h"
#include "transformer/gpu/decoder.h"
#include "transformer/gpu/encoder_ops.h"
#include "transformer/gpu/inputs.h"
#include "transformer/gpu/weights.h"
#include "transformer/hypotheses.h"

namespace verbatim::transformer {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

class GpuExecutor final : public Executor {
 public:
  GpuExecutor(const Transformer& model, const GpuWeights& weights, ggml_backend_dev_t backend_device, int threads)
      : model_(model),
        weights_(weights),
        threads_(threads),
        embedder_(model.encoder, weights.type()),
        decoder_(model, weights, {}, backend_device),
        hypotheses_(model),
        encoder_memory_(decoder_.device().new_allocator()),
        encoder_inputs_(decoder_.device()) {}

  void start(const ExecutorStart& start, const AbortFlag* abort) override {
    const auto begin = std::chrono::steady_clock::now();
    if (abort && abort->is_set()) throw EngineError(ErrorCode::kAborted, "translation was aborted");
    hypotheses_.start(start);
    make_sources(start.sources);
    encode(start.sources);
    encode_ms_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }

  StepOutput step(std::span<const DecoderRow> rows, const LogitsCallback& on_logits, const AbortFlag* abort) override {
    return hypotheses_.step(decoder_, rows, source_views_, on_logits, threads_, abort);
  }

  std::size_t memory_bytes() const noexcept override {
    std::size_t bytes = decoder_.memory_bytes() + decoder_.history_bytes();
    for (const auto& source : sources_) bytes += source->memory_bytes();
    return bytes + ggml_gallocr_get_buffer_size(encoder_memory_.get(), 0) + encoder_inputs_.memory_bytes();
  }

 private:
  void make_sources(std::span<const std::vector<TokenId>> sources) {
    source_views_.clear();
    // Frees the last batch's sources first, so that the new ones are consecutive.
    sources_.clear();
    std::vector<std::size_t> lengths;
    for (const auto& source : sources) lengths.push_back(source.size());
    sources_ = decoder_.sources().make(lengths);
    for (const auto& source : sources_) source_views_.push_back(source.get());
    shape_ = {sources.size(), std::ranges::max(lengths), sources_.front()->slot()};
  }

  void encode(std::span<const std::vector<TokenId>> sources) {
    GpuGraph graph = new_gpu_graph();
    const std::size_t length = shape_.positions;
    encoder_inputs_.clear();
    graph.input = encoder_inputs_.add(GGML_TYPE_F32, model_.width, length * shape_.sentences);
    GpuEncoderInputs inputs;
    inputs.mask = encoder_inputs_.add(GGML_TYPE_F32, length, length, shape_.sentences);
    const MatrixView& table = model_.encoder.layers.front().self_attention.relative_keys;
    if (!table.empty()) inputs.distances = encoder_inputs_.add(GGML_TYPE_I32, length * length);
    GpuEncoderOps ops(graph, model_, weights_, decoder_.sources(), inputs, shape_);
    GpuDevice& device = decoder_.device();
    const auto lock = device.lock();
    encoder_inputs_.allocate();
    build_encoder(ops, ops, model_, graph.input);
    device.allocate(graph.nodes, encoder_memory_.get());
    encoder_inputs_.set(graph.input, embedded(sources));
    encoder_inputs_.set(inputs.mask, mask());
    encoder_inputs_.set(inputs.distances, distances(table));
    encoder_inputs_.upload();
    device.set_threads(threads_);
    device.compute(graph.nodes);
  }

  std::vector<float> embedded(std::span<const std::vector<TokenId>> sources) const {
    std::vector<float> x(model_.width * shape_.positions * sources.size());
    std::vector<float> position(model_.width);
    for (std::size_t i = 0; i < shape_.positions; ++i) {
      embedder_.position_row(i, position);
      for (std::size_t j = 0; j < sources.size(); ++j) {
        if (i >= sources[j].size()) continue;
        const std::size_t row = j * shape_.positions + i;
        embedder_.embed(sources[j][i], position, std::span(x).subspan(row * model_.width, model_.width));
      }
    }
    return x;
  }

  // The same for every query of a sentence: its padding is masked.
  std::vector<float> mask() const {
    std::vector<float> mask;
    for (const auto& source : sources_) {
      for (std::size_t i = 0; i < shape_.positions; ++i) {
        mask.insert(mask.end(), source->positions(), 0.0f);
        mask.insert(mask.end(), shape_.positions - source->positions(), kMasked);
      }
    }
    return mask;
  }

  std::vector<std::int32_t> distances(const MatrixView& table) const {
    std::vector<std::int32_t> rows;
    for (std::size_t i = 0; !table.empty() && i < shape_.positions; ++i) {
      for (std::size_t j = 0; j < shape_.positions; ++j) rows.push_back(relative_row(table, j, i));
    }
    return rows;
  }

  const Transformer& model_;
  const GpuWeights& weights_;
  int threads_;
  Embedder embedder_;
  GpuDecoder decoder_;
  Hypotheses hypotheses_;
  ggml_gallocr_ptr encoder_memory_;
  GpuInputs encoder_inputs_;
  GpuEncoderShape shape_;
  // The sources of the batch, and the same in the form that the decoder takes.
  std::vector<std::unique_ptr<GpuCrossCache>> sources_;
  std::vector<const CrossCache*> source_views_;
};

class GpuFactory final : public ExecutorFactory {
 public:
  GpuFactory(const Transformer& model, ComputeType type, ggml_backend_dev_t backend_device)
      : model_(model), backend_device_(backend_device), weights_(model, type, backend_device) {}
  std::unique_ptr<Executor> create(int threads) const override {
    return std::make_unique<GpuExecutor>(model_, weights_, backend_device_, threads);
  }
  std::size_t bytes() const noexcept override { return weights_.bytes(); }
  ComputeType type() const noexcept override { return weights_.type(); }

 private:
  const Transformer& model_;
  ggml_backend_dev_t backend_device_;
  GpuWeights weights_;
};

}  // namespace

std::unique_ptr<const ExecutorFactory> make_gpu_factory(const Transformer& model, ComputeType type,
                                                        ggml_backend_dev_t backend_device) {
  return std::make_unique<GpuFactory>(model, type, backend_device);
}

}  // namespace verbatim::transformer

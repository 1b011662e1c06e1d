#include "transformer/cpu/executor.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "transformer/cpu/decoder.h"
#include "transformer/cpu/graph.h"
#include "transformer/cpu/weights.h"
#include "transformer/embedder.h"
#include "transformer/hypotheses.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::transformer {
namespace {

// The next batch is often as large as the last.
constexpr std::size_t kKeepAll = std::numeric_limits<std::size_t>::max();

class CpuExecutor final : public Executor {
 public:
  CpuExecutor(const Transformer& model, const CpuWeights& weights, const Kernels& kernels, int threads)
      : model_(model),
        weights_(weights),
        kernels_(kernels),
        threads_(threads),
        source_(model.encoder, weights.type()),
        decoder_(model, weights, {}, kernels, kKeepAll),
        hypotheses_(model) {}

  void start(const ExecutorStart& start, const AbortFlag* abort) override {
    const auto begin = std::chrono::steady_clock::now();
    batch_.offsets.assign(1, 0);
    for (const auto& source : start.sources) batch_.offsets.push_back(batch_.offsets.back() + source.size());
    batch_.rows = batch_.offsets.back();
    hypotheses_.start(start);
    if (encoder_.capacity() < batch_.rows) build_encoder_graph((batch_.rows + 255) / 256 * 256);
    decoder_.reserve(start.max_rows);
    share_sources(start.sources.size());
    embed_sources(start.sources);
    encoder_threads_.compute(encoder_, threads_, abort);
    encode_ms_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }

  std::size_t memory_bytes() const noexcept override {
    return encoder_.memory_bytes() + decoder_.memory_bytes() + decoder_.history_bytes();
  }

  StepOutput step(std::span<const DecoderRow> rows, const LogitsCallback& on_logits, const AbortFlag* abort) override {
    return hypotheses_.step(decoder_, rows, source_views_, on_logits, threads_, abort);
  }

 private:
  void build_encoder_graph(std::size_t capacity) {
    encoder_ = {};
    cross_.clear();
    CpuGraph graph(model_.width, capacity);
    auto ops = std::make_unique<CpuOps>(graph.context(), kernels_, model_, weights_, batch_);
    build_encoder(*ops, *ops, model_, graph.input());
    const std::vector<ggml_tensor*> kept = ops->kept_cross();
    graph.finish(std::move(ops), kept);
    for (const ggml_tensor* tensor : kept) cross_.push_back(static_cast<float*>(tensor->data));
    encoder_ = std::move(graph);
  }

  // The decoder reads the encoder's output in place.
  void share_sources(std::size_t count) {
    const AttentionShape shape{model_.width, static_cast<std::size_t>(model_.decoder.heads)};
    sources_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<float*> layers;
      for (float* rows : cross_) layers.push_back(rows + batch_.offsets[i] * 2 * model_.width);
      sources_.emplace_back(kernels_, shape, layers, batch_.sentence_length(i));
    }
    source_views_.clear();
    for (const Float32CrossCache& source : sources_) source_views_.push_back(&source);
  }

  void embed_sources(std::span<const std::vector<TokenId>> sources) {
    std::vector<float> position(model_.width);
    std::size_t longest = 0;
    for (const auto& source : sources) longest = std::max(longest, source.size());
    for (std::size_t i = 0; i < longest; ++i) {
      source_.position_row(i, position);
      for (std::size_t j = 0; j < sources.size(); ++j) {
        if (i >= sources[j].size()) continue;
        float* row = encoder_.input_rows() + (batch_.offsets[j] + i) * model_.width;
        source_.embed(sources[j][i], position, {row, model_.width});
      }
    }
  }

  const Transformer& model_;
  const CpuWeights& weights_;
  const Kernels& kernels_;
  int threads_;
  Embedder source_;
  CpuThreads encoder_threads_;
  EncoderBatch batch_;
  CpuGraph encoder_;
  // For each decoder layer, keys and values of the encoder rows [rows, 2 * width].
  std::vector<float*> cross_;
  std::vector<Float32CrossCache> sources_;
  // All sources, in the form that the decoder takes.
  std::vector<const CrossCache*> source_views_;
  CpuDecoder decoder_;
  Hypotheses hypotheses_;
};

class CpuFactory final : public ExecutorFactory {
 public:
  CpuFactory(const Transformer& model, ComputeType type) : model_(model), weights_(model, type) {}
  std::unique_ptr<Executor> create(int threads) const override {
    return std::make_unique<CpuExecutor>(model_, weights_, kernels(), threads);
  }
  std::size_t bytes() const noexcept override { return weights_.bytes(); }
  ComputeType type() const noexcept override { return weights_.type(); }

 private:
  const Transformer& model_;
  CpuWeights weights_;
};

}  // namespace

std::unique_ptr<const ExecutorFactory> make_cpu_factory(const Transformer& model, ComputeType type) {
  return std::make_unique<CpuFactory>(model, type);
}

}  // namespace verbatim::transformer

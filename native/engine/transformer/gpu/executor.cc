#include "transformer/gpu/executor.h"

#include <ggml-cpu.h>
#include <ggml.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include "error.h"
#include "transformer/embedder.h"
#include "transformer/gpu/graph.h"
#include "transformer/gpu/ops.h"
#include "transformer/gpu/state.h"
#include "transformer/gpu/weights.h"

namespace verbatim::transformer {
namespace {

// Decoder positions are padded to multiples of this, so that a graph serves as many steps.
constexpr std::size_t kStepBlock = 32;
constexpr float kMasked = -std::numeric_limits<float>::infinity();

void check_abort(const AbortFlag* abort) {
  if (abort && abort->is_set()) throw EngineError(ErrorCode::kAborted, "translation was aborted");
}

class GpuExecutor final : public Executor {
 public:
  GpuExecutor(const Transformer& model, const GpuWeights& weights, ggml_backend_dev_t backend_device,
              int threads)
      : model_(model),
        weights_(weights),
        source_(model.encoder, weights.type()),
        target_(model.decoder, weights.type()),
        backend_(ggml_backend_dev_init(backend_device, nullptr)),
        state_(model, ggml_backend_dev_buffer_type(backend_device)) {
    if (!backend_) throw_out_of_device_memory();
    if (ggml_backend_is_cpu(backend_.get())) ggml_backend_cpu_set_n_threads(backend_.get(), threads);
    encoder_memory_.reset(ggml_gallocr_new(ggml_backend_dev_buffer_type(backend_device)));
    decoder_memory_.reset(ggml_gallocr_new(ggml_backend_dev_buffer_type(backend_device)));
    if (!encoder_memory_ || !decoder_memory_) throw_out_of_device_memory();
  }

  void start(const ExecutorStart& start, const AbortFlag* abort) override {
    const auto begin = std::chrono::steady_clock::now();
    check_abort(abort);
    lengths_.clear();
    for (const auto& source : start.sources) lengths_.push_back(source.size());
    with_attention_ = start.with_attention;
    step_ = 0;
    shape_ = {start.sources.size(), 1, *std::ranges::max_element(lengths_), 0};
    live_.resize(shape_.sentences);
    for (std::size_t i = 0; i < live_.size(); ++i) live_[i] = i;
    decoder_ = {};
    state_.start(batch_, shape_.sentences, shape_.source, start.max_rows, kStepBlock);
    encode(start.sources);
    encode_ms_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }

  StepOutput step(std::span<const DecoderRow> rows, const LogitsVisitor& visit,
                  const AbortFlag* abort) override {
    check_abort(abort);
    keep_live(rows);
    state_.follow(rows, step_);
    const std::size_t steps = (step_ + kStepBlock) / kStepBlock * kStepBlock;
    if (state_.reserve(batch_, steps)) decoder_ = {};
    const GpuShape shape{live_.size(), rows.size() / live_.size(), shape_.source, steps};
    if (!decoder_.nodes || shape != shape_) {
      shape_ = shape;
      build_decoder_graph();
    }
    fill_decoder_inputs(rows);
    compute(decoder_, backend_.get());
    ++step_;
    read_logits(visit);
    if (!with_attention_) return {};
    read_alignment();
    return {alignment_.data(), shape_.source};
  }

  std::size_t memory_bytes() const noexcept override {
    return (logits_.capacity() + alignment_.capacity()) * sizeof(float);
  }

 private:
  GpuGraph new_graph(std::size_t rows) const {
    GpuGraph graph = new_gpu_graph();
    graph.input = add_input(graph, GGML_TYPE_F32, model_.width, rows);
    return graph;
  }

  bool is_relative(const TransformerStack& stack) const {
    return !stack.layers.front().self_attention.relative_keys.empty();
  }

  void encode(std::span<const std::vector<TokenId>> sources) {
    GpuGraph graph = new_graph(shape_.source * shape_.sentences);
    batch_.source_mask = add_input(graph, GGML_TYPE_F32, shape_.source, shape_.source, shape_.sentences);
    batch_.distances = is_relative(model_.encoder)
                           ? add_input(graph, GGML_TYPE_I32, shape_.source * shape_.source)
                           : nullptr;
    GpuOps ops(graph.context.get(), graph.nodes, model_, weights_, batch_, shape_);
    build_encoder(ops, model_, graph.input);
    allocate(graph, encoder_memory_.get());
    fill_encoder_inputs(graph, sources);
    compute(graph, backend_.get());
  }

  void fill_encoder_inputs(const GpuGraph& graph, std::span<const std::vector<TokenId>> sources) {
    const std::size_t length = shape_.source;
    std::vector<float> x(model_.width * length * sources.size());
    std::vector<float> position(model_.width);
    for (std::size_t i = 0; i < length; ++i) {
      source_.position_row(i, position);
      for (std::size_t j = 0; j < sources.size(); ++j) {
        if (i >= sources[j].size()) continue;
        source_.embed(sources[j][i], position,
                      std::span(x).subspan((j * length + i) * model_.width, model_.width));
      }
    }
    set_input(graph.input, x);
    set_input(batch_.source_mask, source_mask(length));
    if (!batch_.distances) return;
    std::vector<std::int32_t> distances;
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t j = 0; j < length; ++j)
        distances.push_back(relative_row(model_.encoder.layers.front().self_attention.relative_keys, j, i));
    }
    set_input(batch_.distances, distances);
  }

  // `queries` rows a live sentence, the padding of its source masked.
  std::vector<float> source_mask(std::size_t queries) const {
    std::vector<float> mask;
    for (const std::size_t sentence : live_) {
      for (std::size_t i = 0; i < queries; ++i) {
        mask.insert(mask.end(), lengths_[sentence], 0.0f);
        mask.insert(mask.end(), shape_.source - lengths_[sentence], kMasked);
      }
    }
    return mask;
  }

  void build_decoder_graph() {
    decoder_ = {};
    GpuGraph graph = new_graph(shape_.rows());
    batch_.source_mask = add_input(graph, GGML_TYPE_F32, shape_.source, shape_.beams, shape_.sentences);
    batch_.step_mask = add_input(graph, GGML_TYPE_F32, shape_.steps);
    batch_.write_rows = add_input(graph, GGML_TYPE_I32, shape_.rows());
    batch_.read_rows = add_input(graph, GGML_TYPE_I32, shape_.steps * shape_.rows());
    batch_.distances = is_relative(model_.decoder) ? add_input(graph, GGML_TYPE_I32, shape_.steps) : nullptr;
    GpuOps ops(graph.context.get(), graph.nodes, model_, weights_, batch_, shape_);
    graph.output = build_decoder(ops, model_, graph.input);
    ggml_set_output(graph.output);
    if (with_attention_) ggml_set_output(batch_.alignment);
    ggml_build_forward_expand(graph.nodes, graph.output);
    allocate(graph, decoder_memory_.get());
    decoder_ = std::move(graph);
  }

  void fill_decoder_inputs(std::span<const DecoderRow> rows) {
    std::vector<float> x(model_.width * rows.size());
    std::vector<float> position(model_.width);
    target_.position_row(step_, position);
    const bool is_zero = step_ == 0 && model_.start_from_zero_embedding;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = std::span(x).subspan(i * model_.width, model_.width);
      is_zero ? static_cast<void>(std::ranges::copy(position, row.begin()))
              : target_.embed(rows[i].token, position, row);
    }
    set_input(decoder_.input, x);
    set_input(batch_.source_mask, source_mask(shape_.beams));
    std::vector<float> step_mask(shape_.steps, kMasked);
    std::fill_n(step_mask.begin(), step_ + 1, 0.0f);
    set_input(batch_.step_mask, step_mask);
    set_input(batch_.write_rows, state_.write_rows());
    set_input(batch_.read_rows, state_.read_rows(shape_.steps));
    if (!batch_.distances) return;
    std::vector<std::int32_t> distances;
    for (std::size_t t = 0; t < shape_.steps; ++t)
      distances.push_back(relative_row(model_.decoder.layers.front().self_attention.relative_keys, t, step_));
    set_input(batch_.distances, distances);
  }

  // Drops the sentences that have no row any more: the rest of the cross-attention moves up.
  void keep_live(std::span<const DecoderRow> rows) {
    std::vector<std::size_t> still;
    std::vector<std::int32_t> places;
    for (const DecoderRow& row : rows) {
      if (!still.empty() && still.back() == row.sentence) continue;
      still.push_back(row.sentence);
      places.push_back(static_cast<std::int32_t>(std::ranges::find(live_, row.sentence) - live_.begin()));
    }
    if (still.size() == live_.size()) return;
    live_ = std::move(still);
    GpuGraph graph = new_gpu_graph();
    ggml_tensor* kept = add_input(graph, GGML_TYPE_I32, places.size());
    for (const auto* tensors : {&batch_.cross_keys, &batch_.cross_values}) {
      for (ggml_tensor* tensor : *tensors) move_sentences(graph, tensor, kept);
    }
    decoder_ = {};
    allocate(graph, decoder_memory_.get());
    set_input(kept, places);
    compute(graph, backend_.get());
  }

  void read_logits(const LogitsVisitor& visit) {
    const std::size_t vocabulary = model_.projection.weight.rows;
    logits_.resize(shape_.rows() * vocabulary);
    ggml_backend_tensor_get(decoder_.output, logits_.data(), 0, logits_.size() * sizeof(float));
    for (std::size_t row = 0; row < shape_.rows(); ++row) {
      visit(row, std::span(logits_).subspan(row * vocabulary, vocabulary));
    }
  }

  // The mean over the alignment heads of [source, beams, heads, sentences] as [rows, source].
  void read_alignment() {
    const auto heads = static_cast<std::size_t>(model_.decoder.heads);
    const auto used = static_cast<std::size_t>(model_.alignment_heads);
    std::vector<float> all(shape_.source * shape_.rows() * heads);
    ggml_backend_tensor_get(batch_.alignment, all.data(), 0, all.size() * sizeof(float));
    alignment_.assign(shape_.rows() * shape_.source, 0.0f);
    for (std::size_t row = 0; row < shape_.rows(); ++row) {
      for (std::size_t head = 0; head < used; ++head) {
        const std::size_t block = (row / shape_.beams * heads + head) * shape_.beams + row % shape_.beams;
        for (std::size_t j = 0; j < shape_.source; ++j) {
          alignment_[row * shape_.source + j] += all[block * shape_.source + j] / static_cast<float>(used);
        }
      }
    }
  }

  const Transformer& model_;
  const GpuWeights& weights_;
  Embedder source_;
  Embedder target_;
  ggml_backend_ptr backend_;
  ggml_gallocr_ptr encoder_memory_;
  ggml_gallocr_ptr decoder_memory_;
  GpuState state_;
  GpuGraph decoder_;
  GpuBatch batch_;
  GpuShape shape_;
  // Source lengths of the batch, and the sentences that still have rows.
  std::vector<std::size_t> lengths_;
  std::vector<std::size_t> live_;
  std::size_t step_ = 0;
  bool with_attention_ = false;
  std::vector<float> logits_;
  std::vector<float> alignment_;
};

class GpuFactory final : public ExecutorFactory {
 public:
  GpuFactory(const Transformer& model, ComputeType type, ggml_backend_dev_t backend_device)
      : model_(model),
        backend_device_(backend_device),
        weights_(model, type, ggml_backend_dev_buffer_type(backend_device)) {}
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

ggml_backend_dev_t backend_device_of(std::string_view id) {
  if (id == "cpu") return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  std::size_t index = std::stoul(std::string(id.substr(id.find(':') + 1)));
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    const ggml_backend_dev_t backend_device = ggml_backend_dev_get(i);
    const auto type = ggml_backend_dev_type(backend_device);
    const bool is_gpu = type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
    if (is_gpu && index-- == 0) return backend_device;
  }
  throw EngineError(ErrorCode::kDeviceUnavailable, "device \"" + std::string(id) + "\" is not available");
}

std::unique_ptr<const ExecutorFactory> make_gpu_factory(const Transformer& model, ComputeType type,
                                                        ggml_backend_dev_t backend_device) {
  return std::make_unique<GpuFactory>(model, type, backend_device);
}

}  // namespace verbatim::transformer

#include "transformer/cpu/executor.h"

#include <ggml-cpp.h>
#include <ggml-cpu.h>
#include <ggml.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "error.h"
#include "transformer/cpu/ops.h"
#include "transformer/cpu/weights.h"
#include "transformer/embedder.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::transformer {
namespace {

[[noreturn]] void out_of_memory() {
  throw EngineError(ErrorCode::kOutOfMemory, "no memory for the translation graph");
}

// A graph for at most `capacity` rows.
struct Graph {
  std::size_t capacity = 0;
  ggml_context_ptr context;
  std::unique_ptr<CpuOps> ops;
  ggml_gallocr_ptr memory;
  ggml_cgraph* nodes = nullptr;
  ggml_tensor* input = nullptr;
  ggml_tensor* output = nullptr;
};

class CpuExecutor final : public Executor {
 public:
  CpuExecutor(const Transformer& model, const CpuWeights& weights, const Kernels& kernels, int threads)
      : model_(model),
        weights_(weights),
        kernels_(kernels),
        source_(model.encoder, weights.type()),
        target_(model.decoder, weights.type()),
        backend_(ggml_backend_cpu_init()) {
    if (!backend_) out_of_memory();
    ggml_backend_cpu_set_n_threads(backend_.get(), threads);
  }

  void start(const ExecutorStart& start, const AbortFlag* abort) override {
    const auto begin = std::chrono::steady_clock::now();
    batch_.offsets.assign(1, 0);
    for (const auto& source : start.sources) batch_.offsets.push_back(batch_.offsets.back() + source.size());
    batch_.encoder_rows = batch_.offsets.back();
    batch_.step = 0;
    batch_.rows = 0;
    batch_.block_rows.clear();
    prepare_attention(start);
    if (encoder_.capacity < batch_.encoder_rows) build_encoder_graph((batch_.encoder_rows + 255) / 256 * 256);
    if (decoder_.capacity < start.max_rows) build_decoder_graph(start.max_rows);
    embed_sources(start.sources);
    compute(encoder_, abort);
    encode_ms_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }

  std::size_t memory_bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const Graph* graph : {&encoder_, &decoder_}) {
      if (graph->memory) bytes += ggml_gallocr_get_buffer_size(graph->memory.get(), 0);
    }
    for (const auto& block : batch_.blocks) bytes += block.capacity() * sizeof(float);
    return bytes;
  }

  StepOutput step(std::span<const DecoderRow> rows, const LogitsVisitor& visit,
                  const AbortFlag* abort) override {
    begin_step(rows);
    batch_.visit = &visit;
    embed_rows(rows);
    compute(decoder_, abort);
    ++batch_.step;
    return {batch_.attention.empty() ? nullptr : batch_.attention.data(), batch_.attention_stride};
  }

 private:
  void prepare_attention(const ExecutorStart& start) {
    batch_.attention.clear();
    batch_.attention_stride = 0;
    if (!start.with_attention) return;
    for (const auto& source : start.sources)
      batch_.attention_stride = std::max(batch_.attention_stride, source.size());
    batch_.attention.assign(start.max_rows * batch_.attention_stride, 0.0f);
  }

  Graph new_graph(std::size_t capacity, const std::size_t& rows) {
    constexpr std::size_t kMostNodes = 8192;
    Graph graph;
    graph.capacity = capacity;
    const std::size_t bytes =
        ggml_tensor_overhead() * kMostNodes + ggml_graph_overhead_custom(kMostNodes, false);
    graph.context.reset(ggml_init({bytes, nullptr, true}));
    graph.memory.reset(ggml_gallocr_new(ggml_backend_cpu_buffer_type()));
    if (!graph.context || !graph.memory) out_of_memory();
    graph.ops = std::make_unique<CpuOps>(graph.context.get(), kernels_, model_, weights_, batch_, rows);
    graph.nodes = ggml_new_graph_custom(graph.context.get(), kMostNodes, false);
    graph.input =
        ggml_new_tensor_2d(graph.context.get(), GGML_TYPE_F32, static_cast<std::int64_t>(model_.width),
                           static_cast<std::int64_t>(capacity));
    ggml_set_input(graph.input);
    return graph;
  }

  static void allocate(Graph& graph) {
    if (!ggml_gallocr_alloc_graph(graph.memory.get(), graph.nodes)) out_of_memory();
  }

  void build_encoder_graph(std::size_t capacity) {
    encoder_ = {};
    Graph graph = new_graph(capacity, batch_.encoder_rows);
    build_encoder(*graph.ops, model_, graph.input);
    for (ggml_tensor* kept : graph.ops->kept_cross()) ggml_build_forward_expand(graph.nodes, kept);
    allocate(graph);
    batch_.cross.clear();
    for (const ggml_tensor* kept : graph.ops->kept_cross()) {
      batch_.cross.push_back(static_cast<const float*>(kept->data));
    }
    encoder_ = std::move(graph);
  }

  void build_decoder_graph(std::size_t capacity) {
    decoder_ = {};
    Graph graph = new_graph(capacity, batch_.rows);
    graph.output = graph.ops->visit(build_decoder(*graph.ops, model_, graph.input));
    ggml_set_output(graph.output);
    ggml_build_forward_expand(graph.nodes, graph.output);
    allocate(graph);
    decoder_ = std::move(graph);
  }

  void embed_sources(std::span<const std::vector<TokenId>> sources) {
    std::vector<float> position(model_.width);
    float* out = static_cast<float*>(encoder_.input->data);
    std::size_t longest = 0;
    for (const auto& source : sources) longest = std::max(longest, source.size());
    for (std::size_t i = 0; i < longest; ++i) {
      source_.position_row(i, position);
      for (std::size_t j = 0; j < sources.size(); ++j) {
        if (i >= sources[j].size()) continue;
        source_.embed(sources[j][i], position, {out + (batch_.offsets[j] + i) * model_.width, model_.width});
      }
    }
  }

  void embed_rows(std::span<const DecoderRow> rows) {
    std::vector<float> position(model_.width);
    target_.position_row(batch_.step, position);
    float* out = static_cast<float*>(decoder_.input->data);
    const bool is_zero = batch_.step == 0 && model_.start_from_zero_embedding;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::span<float> row(out + i * model_.width, model_.width);
      is_zero ? static_cast<void>(std::ranges::copy(position, row.begin()))
              : target_.embed(rows[i].token, position, row);
    }
  }

  void begin_step(std::span<const DecoderRow> rows) {
    batch_.rows = rows.size();
    batch_.sentences.resize(rows.size());
    const auto of_first = [&](const DecoderRow& row) { return row.sentence == rows.front().sentence; };
    batch_.rows_per_sentence = static_cast<std::size_t>(std::ranges::count_if(rows, of_first));
    std::vector<std::vector<std::int32_t>> ancestors(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      batch_.sentences[i] = rows[i].sentence;
      if (batch_.step > 0) ancestors[i] = batch_.ancestors[rows[i].origin];
      ancestors[i].push_back(static_cast<std::int32_t>(i));
    }
    batch_.ancestors = std::move(ancestors);
    if (batch_.blocks.size() <= batch_.step) batch_.blocks.emplace_back();
    batch_.blocks[batch_.step].resize(model_.decoder.layers.size() * rows.size() * 2 * model_.width);
    batch_.block_rows.push_back(rows.size());
  }

  void compute(const Graph& graph, const AbortFlag* abort) {
    const auto is_aborted = [](void* flag) { return flag && static_cast<const AbortFlag*>(flag)->is_set(); };
    ggml_backend_cpu_set_abort_callback(backend_.get(), is_aborted, const_cast<AbortFlag*>(abort));
    const ggml_status status = ggml_backend_graph_compute(backend_.get(), graph.nodes);
    if (status == GGML_STATUS_ABORTED) throw EngineError(ErrorCode::kAborted, "translation was aborted");
    if (status == GGML_STATUS_ALLOC_FAILED) out_of_memory();
    if (status != GGML_STATUS_SUCCESS)
      throw EngineError(ErrorCode::kInternalError, "ggml could not run the graph");
  }

  const Transformer& model_;
  const CpuWeights& weights_;
  const Kernels& kernels_;
  Embedder source_;
  Embedder target_;
  ggml_backend_ptr backend_;
  CpuBatch batch_;
  Graph encoder_;
  Graph decoder_;
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

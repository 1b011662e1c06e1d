#include "translation/device_executor.h"

#include <ggml-cpu.h>
#include <ggml.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include "error.h"
#include "translation/device_ops.h"
#include "translation/embedder.h"

namespace verbatim::translation {
namespace {

constexpr std::size_t kMostNodes = 16384;
// Decoder positions are padded to multiples of this, so that a graph serves as many steps.
constexpr std::size_t kStepBlock = 32;
constexpr float kMasked = -std::numeric_limits<float>::infinity();

[[noreturn]] void out_of_memory() {
  throw EngineError(ErrorCode::kOutOfMemory, "no memory for the translation batch on the device");
}

void check_abort(const AbortFlag* abort) {
  if (abort && abort->is_set()) throw EngineError(ErrorCode::kAborted, "translation was aborted");
}

std::int64_t dim(std::size_t size) { return static_cast<std::int64_t>(size); }

template <typename T>
void set(ggml_tensor* tensor, const std::vector<T>& values) {
  if (tensor && tensor->buffer) ggml_backend_tensor_set(tensor, values.data(), 0, values.size() * sizeof(T));
}

ggml_context_ptr new_context() {
  ggml_context_ptr context(ggml_init(
      {ggml_tensor_overhead() * kMostNodes + ggml_graph_overhead_custom(kMostNodes, false), nullptr, true}));
  if (!context) out_of_memory();
  return context;
}

// Tensors that live longer than a graph.
struct Storage {
  ggml_context_ptr context;
  ggml_backend_buffer_ptr buffer;
};

struct Graph {
  ggml_context_ptr context;
  ggml_cgraph* nodes = nullptr;
  ggml_tensor* input = nullptr;
  ggml_tensor* output = nullptr;
};

class DeviceExecutor final : public Executor {
 public:
  DeviceExecutor(const Transformer& model, const DeviceWeights& weights, ggml_backend_dev_t device,
                 int threads)
      : model_(model),
        weights_(weights),
        source_(model.encoder, weights.type()),
        target_(model.decoder, weights.type()),
        backend_(ggml_backend_dev_init(device, nullptr)),
        memory_(ggml_backend_dev_buffer_type(device)) {
    if (!backend_) out_of_memory();
    if (ggml_backend_is_cpu(backend_.get())) ggml_backend_cpu_set_n_threads(backend_.get(), threads);
    encoder_memory_.reset(ggml_gallocr_new(memory_));
    decoder_memory_.reset(ggml_gallocr_new(memory_));
    if (!encoder_memory_ || !decoder_memory_) out_of_memory();
  }

  void start(const ExecutorStart& start, const AbortFlag* abort) override {
    const auto begin = std::chrono::steady_clock::now();
    check_abort(abort);
    lengths_.clear();
    for (const auto& source : start.sources) lengths_.push_back(source.size());
    max_rows_ = start.max_rows;
    with_attention_ = start.with_attention;
    step_ = 0;
    shape_ = {start.sources.size(), 1, *std::ranges::max_element(lengths_), 0};
    live_.resize(shape_.sentences);
    for (std::size_t i = 0; i < live_.size(); ++i) live_[i] = i;
    decoder_ = {};
    allocate_cross();
    if (cache_rows_ < max_rows_ * kStepBlock) grow_cache(max_rows_ * kStepBlock);
    encode(start.sources);
    encode_ms_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }

  StepOutput step(std::span<const DecoderRow> rows, const LogitsVisitor& visit,
                  const AbortFlag* abort) override {
    check_abort(abort);
    keep_live(rows);
    follow(rows);
    const std::size_t steps = (step_ + kStepBlock) / kStepBlock * kStepBlock;
    if (cache_rows_ < steps * max_rows_) grow_cache(std::max(2 * cache_rows_, steps * max_rows_));
    const DeviceShape shape{live_.size(), rows.size() / live_.size(), shape_.source, steps};
    if (!decoder_.nodes || shape != shape_) {
      shape_ = shape;
      build_decoder_graph();
    }
    fill_decoder_inputs(rows);
    compute(decoder_.nodes);
    ++step_;
    read_logits(visit);
    if (!with_attention_) return {};
    read_alignment();
    return {alignment_.data(), shape_.source};
  }

  std::size_t memory_bytes() const noexcept override { return host_bytes(); }

 private:
  std::size_t host_bytes() const noexcept {
    return (logits_.capacity() + alignment_.capacity()) * sizeof(float);
  }

  Storage new_storage(ggml_context_ptr context) const {
    Storage storage{std::move(context), {}};
    storage.buffer.reset(ggml_backend_alloc_ctx_tensors_from_buft(storage.context.get(), memory_));
    if (!storage.buffer) out_of_memory();
    return storage;
  }

  void allocate_cross() {
    const auto heads = static_cast<std::size_t>(model_.decoder.heads);
    const std::size_t size = model_.width / heads;
    cross_ = {};
    ggml_context_ptr context = new_context();
    batch_.cross_keys.clear();
    batch_.cross_values.clear();
    for (std::size_t i = 0; i < model_.decoder.layers.size(); ++i) {
      batch_.cross_keys.push_back(ggml_new_tensor_4d(context.get(), GGML_TYPE_F32, dim(size),
                                                     dim(shape_.source), dim(heads), dim(shape_.sentences)));
      batch_.cross_values.push_back(ggml_new_tensor_4d(context.get(), GGML_TYPE_F32, dim(shape_.source),
                                                       dim(size), dim(heads), dim(shape_.sentences)));
    }
    cross_ = new_storage(std::move(context));
  }

  // Makes room for `rows` cache rows and keeps what is there.
  void grow_cache(std::size_t rows) {
    ggml_context_ptr context = new_context();
    std::vector<ggml_tensor*> grown;
    for (std::size_t i = 0; i < model_.decoder.layers.size(); ++i) {
      grown.push_back(ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, dim(2 * model_.width), dim(rows)));
    }
    Storage storage = new_storage(std::move(context));
    const ggml_context_ptr views = new_context();
    for (std::size_t i = 0; step_ > 0 && i < batch_.cache.size(); ++i) {
      ggml_tensor* old = batch_.cache[i];
      ggml_tensor* begin = ggml_view_2d(views.get(), grown[i], old->ne[0], old->ne[1], grown[i]->nb[1], 0);
      ggml_backend_view_init(begin);
      ggml_backend_tensor_copy(old, begin);
    }
    batch_.cache = std::move(grown);
    cache_ = std::move(storage);
    cache_rows_ = rows;
    decoder_ = {};
  }

  Graph new_graph(std::size_t rows) {
    Graph graph;
    graph.context = new_context();
    graph.nodes = ggml_new_graph_custom(graph.context.get(), kMostNodes, false);
    graph.input = input(graph, GGML_TYPE_F32, model_.width, rows);
    return graph;
  }

  static ggml_tensor* input(const Graph& graph, ggml_type type, std::size_t a, std::size_t b = 1,
                            std::size_t d = 1) {
    ggml_tensor* tensor = ggml_new_tensor_4d(graph.context.get(), type, dim(a), dim(b), 1, dim(d));
    ggml_set_input(tensor);
    return tensor;
  }

  bool is_relative(const TransformerStack& stack) const {
    return !stack.layers.front().self_attention.relative_keys.empty();
  }

  void encode(std::span<const std::vector<TokenId>> sources) {
    Graph graph = new_graph(shape_.source * shape_.sentences);
    batch_.source_mask = input(graph, GGML_TYPE_F32, shape_.source, shape_.source, shape_.sentences);
    batch_.distances =
        is_relative(model_.encoder) ? input(graph, GGML_TYPE_I32, shape_.source * shape_.source) : nullptr;
    DeviceOps ops(graph.context.get(), graph.nodes, model_, weights_, batch_, shape_);
    build_encoder(ops, model_, graph.input);
    if (!ggml_gallocr_alloc_graph(encoder_memory_.get(), graph.nodes)) out_of_memory();
    fill_encoder_inputs(graph, sources);
    compute(graph.nodes);
  }

  void fill_encoder_inputs(const Graph& graph, std::span<const std::vector<TokenId>> sources) {
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
    set(graph.input, x);
    set(batch_.source_mask, source_mask(length));
    if (!batch_.distances) return;
    std::vector<std::int32_t> distances;
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t j = 0; j < length; ++j) distances.push_back(distance(model_.encoder, j, i));
    }
    set(batch_.distances, distances);
  }

  // Row of the relative tables for key position j and query position i.
  static std::int32_t distance(const TransformerStack& stack, std::size_t j, std::size_t i) {
    const auto furthest =
        static_cast<std::int64_t>(stack.layers.front().self_attention.relative_keys.rows / 2);
    return static_cast<std::int32_t>(std::clamp(dim(j) - dim(i), -furthest, furthest) + furthest);
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
    Graph graph = new_graph(shape_.rows());
    batch_.source_mask = input(graph, GGML_TYPE_F32, shape_.source, shape_.beams, shape_.sentences);
    batch_.step_mask = input(graph, GGML_TYPE_F32, shape_.steps);
    batch_.write_rows = input(graph, GGML_TYPE_I32, shape_.rows());
    batch_.read_rows = input(graph, GGML_TYPE_I32, shape_.steps * shape_.rows());
    batch_.distances = is_relative(model_.decoder) ? input(graph, GGML_TYPE_I32, shape_.steps) : nullptr;
    DeviceOps ops(graph.context.get(), graph.nodes, model_, weights_, batch_, shape_);
    graph.output = build_decoder(ops, model_, graph.input);
    ggml_set_output(graph.output);
    if (with_attention_) ggml_set_output(batch_.alignment);
    ggml_build_forward_expand(graph.nodes, graph.output);
    if (!ggml_gallocr_alloc_graph(decoder_memory_.get(), graph.nodes)) out_of_memory();
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
    set(decoder_.input, x);
    set(batch_.source_mask, source_mask(shape_.beams));
    std::vector<float> step_mask(shape_.steps, kMasked);
    std::fill_n(step_mask.begin(), step_ + 1, 0.0f);
    set(batch_.step_mask, step_mask);
    fill_cache_rows(rows.size());
    if (!batch_.distances) return;
    std::vector<std::int32_t> distances;
    for (std::size_t t = 0; t < shape_.steps; ++t) distances.push_back(distance(model_.decoder, t, step_));
    set(batch_.distances, distances);
  }

  void fill_cache_rows(std::size_t rows) {
    std::vector<std::int32_t> write, read;
    for (std::size_t i = 0; i < rows; ++i) {
      write.push_back(ancestors_[i].back());
      read.insert(read.end(), ancestors_[i].begin(), ancestors_[i].end());
      // Masked positions read any row that has been written.
      read.insert(read.end(), shape_.steps - ancestors_[i].size(), ancestors_[i].back());
    }
    set(batch_.write_rows, write);
    set(batch_.read_rows, read);
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
    Graph graph;
    graph.context = new_context();
    graph.nodes = ggml_new_graph_custom(graph.context.get(), kMostNodes, false);
    ggml_tensor* indices = input(graph, GGML_TYPE_I32, places.size());
    for (const auto* tensors : {&batch_.cross_keys, &batch_.cross_values}) {
      for (ggml_tensor* tensor : *tensors) move_up(graph, tensor, indices);
    }
    decoder_ = {};
    if (!ggml_gallocr_alloc_graph(decoder_memory_.get(), graph.nodes)) out_of_memory();
    set(indices, places);
    compute(graph.nodes);
  }

  static void move_up(const Graph& graph, ggml_tensor* tensor, ggml_tensor* indices) {
    ggml_context* context = graph.context.get();
    const std::int64_t sentence = tensor->ne[0] * tensor->ne[1] * tensor->ne[2];
    ggml_tensor* flat = ggml_view_2d(context, tensor, sentence, tensor->ne[3], tensor->nb[3], 0);
    ggml_tensor* kept = ggml_get_rows(context, flat, indices);
    ggml_tensor* begin = ggml_view_2d(context, tensor, sentence, indices->ne[0], tensor->nb[3], 0);
    ggml_build_forward_expand(graph.nodes, ggml_cpy(context, kept, begin));
  }

  void follow(std::span<const DecoderRow> rows) {
    std::vector<std::vector<std::int32_t>> ancestors(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (step_ > 0) ancestors[i] = ancestors_[rows[i].origin];
      ancestors[i].push_back(static_cast<std::int32_t>(step_ * max_rows_ + i));
    }
    ancestors_ = std::move(ancestors);
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

  void compute(ggml_cgraph* graph) {
    const ggml_status status = ggml_backend_graph_compute(backend_.get(), graph);
    if (status == GGML_STATUS_ALLOC_FAILED) out_of_memory();
    if (status != GGML_STATUS_SUCCESS)
      throw EngineError(ErrorCode::kInternalError, "ggml could not run the graph");
  }

  const Transformer& model_;
  const DeviceWeights& weights_;
  Embedder source_;
  Embedder target_;
  ggml_backend_ptr backend_;
  ggml_backend_buffer_type_t memory_;
  ggml_gallocr_ptr encoder_memory_;
  ggml_gallocr_ptr decoder_memory_;
  Storage cross_;
  Storage cache_;
  std::size_t cache_rows_ = 0;
  Graph decoder_;
  DeviceBatch batch_;
  DeviceShape shape_;
  // Source lengths of the batch, and the sentences that still have rows.
  std::vector<std::size_t> lengths_;
  std::vector<std::size_t> live_;
  std::vector<std::vector<std::int32_t>> ancestors_;
  std::size_t max_rows_ = 0;
  std::size_t step_ = 0;
  bool with_attention_ = false;
  std::vector<float> logits_;
  std::vector<float> alignment_;
};

}  // namespace

ggml_backend_dev_t ggml_device(std::string_view id) {
  if (id == "cpu") return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  std::size_t index = std::stoul(std::string(id.substr(id.find(':') + 1)));
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    const ggml_backend_dev_t device = ggml_backend_dev_get(i);
    const auto type = ggml_backend_dev_type(device);
    const bool is_gpu = type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
    if (is_gpu && index-- == 0) return device;
  }
  throw EngineError(ErrorCode::kDeviceUnavailable, "device \"" + std::string(id) + "\" is not available");
}

std::unique_ptr<Executor> make_device_executor(const Transformer& model, const DeviceWeights& weights,
                                               ggml_backend_dev_t device, int threads) {
  return std::make_unique<DeviceExecutor>(model, weights, device, threads);
}

}  // namespace verbatim::translation

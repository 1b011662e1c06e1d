#include "speech/whisper/encoder/graph_encoder.h"

#include <ggml-cpu.h>

#include <span>
#include <string>
#include <utility>

#include "error.h"
#include "speech/whisper_log.h"
#include "thread_count.h"
#include "transformer/gpu/sources.h"

namespace verbatim::whisper {
namespace {

[[noreturn]] void fail_for_memory() { throw EngineError(ErrorCode::kOutOfMemory, "no memory for the encoder"); }

void set_backend_threads(ggml_backend_t backend, int threads) {
  auto* const registry = ggml_backend_dev_backend_reg(ggml_backend_get_device(backend));
  const auto set = reinterpret_cast<ggml_backend_set_n_threads_t>(
      ggml_backend_reg_get_proc_address(registry, "ggml_backend_set_n_threads"));
  if (set != nullptr) set(backend, threads);
}

}  // namespace

// The activations of a window, on the device if there is one.
struct GraphEncoder::State final : EncoderState {
  std::size_t memory_bytes() const noexcept override { return buffer ? ggml_backend_buffer_get_size(buffer.get()) : 0; }

  GgmlPointer<ggml_context> context;
  GgmlPointer<ggml_backend_buffer> buffer;
  ggml_tensor* activation = nullptr;  // float32 [positions, d]
};

GraphEncoder::GraphEncoder(std::shared_ptr<const Model> model, int threads)
    : model_(std::move(model)), graph_memory_(encoder_graph_bytes()) {
  if (model_->graph_device() != nullptr) backends_.emplace_back(ggml_backend_dev_init(model_->graph_device(), nullptr));
  backends_.emplace_back(ggml_backend_cpu_init());
  std::vector<ggml_backend_t> all;
  for (const auto& backend : backends_) {
    if (!backend) fail_for_memory();
    all.push_back(backend.get());
  }
  scheduler_.reset(
      ggml_backend_sched_new(all.data(), nullptr, static_cast<int>(all.size()), kEncoderGraphNodes, false, true));
  if (!scheduler_) fail_for_memory();
  GraphEncoder::set_threads(threads);
}

GraphEncoder::~GraphEncoder() = default;

void GraphEncoder::set_threads(int threads) {
  require_thread_count(threads);
  for (const auto& backend : backends_) set_backend_threads(backend.get(), threads);
}

std::unique_ptr<EncoderState> GraphEncoder::begin(const EncoderRun& run) {
  auto state = std::make_unique<State>();
  state->context.reset(ggml_init({ggml_tensor_overhead(), nullptr, true}));
  if (!state->context) fail_for_memory();
  state->activation =
      ggml_new_tensor_2d(state->context.get(), GGML_TYPE_F32, model_->shape().audio_state, run.positions());
  // The result lies on the device if there is one.
  const auto& home = model_->graph_device() == nullptr ? backends_.back() : backends_.front();
  state->buffer.reset(ggml_backend_alloc_ctx_tensors(state->context.get(), home.get()));
  if (!state->buffer) fail_for_memory();
  return state;
}

void GraphEncoder::compute(const EncoderRun& run, std::span<const EncoderStep> steps, EncoderState& state) {
  const GgmlPointer<ggml_context> context(ggml_init({graph_memory_.size(), graph_memory_.data(), true}));
  if (!context) fail_for_memory();
  const EncoderGraph unit = build_encoder_unit(context.get(), model_->encoder_weights(), model_->shape(), steps,
                                               static_cast<State&>(state).activation);
  const auto* const on_device =
      model_->graph_device() == nullptr ? nullptr : dynamic_cast<const transformer::GpuCrossCache*>(&run.target());
  if (on_device == nullptr || unit.cross.empty()) {
    run_unit(run, unit);
    for (const auto& [layer, rows] : unit.cross) keep_cross(run, layer, *rows);
    return;
  }
  // Keys and values need not leave the device. Locked, since the caches may move and decoders read them.
  const auto lock = on_device->sources().lock();
  for (const auto& [layer, rows] : unit.cross) {
    on_device->sources().add_write(context.get(), unit.graph, on_device->slot(), 1, static_cast<std::size_t>(layer), 0,
                                   rows);
  }
  run_unit(run, unit);
}

void GraphEncoder::run_unit(const EncoderRun& run, const EncoderGraph& unit) {
  take_whisper_error();
  ggml_backend_sched_reset(scheduler_.get());
  if (!ggml_backend_sched_alloc_graph(scheduler_.get(), unit.graph)) fail_for_memory();
  if (unit.mel != nullptr) set_mel(run, unit.mel);
  const ggml_status status = ggml_backend_sched_graph_compute(scheduler_.get(), unit.graph);
  if (status == GGML_STATUS_ALLOC_FAILED) fail_for_memory();
  if (status != GGML_STATUS_SUCCESS) {
    throw EngineError(ErrorCode::kInternalError, "the encoder failed: " + take_whisper_error());
  }
}

// ggml expects the bands of a frame side by side.
void GraphEncoder::set_mel(const EncoderRun& run, ggml_tensor* target) {
  const auto bands = static_cast<std::size_t>(target->ne[0]);
  const auto count = 2 * static_cast<std::size_t>(run.positions());
  frames_.resize(bands * count);
  run.mel().copy(run.first_frame(), static_cast<int>(count), frames_.data());
  staging_.assign(static_cast<std::size_t>(ggml_nelements(target)), 0.0f);
  float* const first = staging_.data() + kLeadingFrames * bands;
  for (std::size_t band = 0; band < bands; ++band) {
    for (std::size_t frame = 0; frame < count; ++frame) {
      first[frame * bands + band] = frames_[band * count + frame];
    }
  }
  ggml_backend_tensor_set(target, staging_.data(), 0, ggml_nbytes(target));
}

void GraphEncoder::keep_cross(const EncoderRun& run, int layer, const ggml_tensor& rows) {
  const auto count = static_cast<std::size_t>(ggml_nelements(&rows));
  std::span<const float> values(static_cast<const float*>(rows.data), count);
  if (!ggml_backend_buffer_is_host(rows.buffer)) {
    staging_.resize(count);
    ggml_backend_tensor_get(&rows, staging_.data(), 0, ggml_nbytes(&rows));
    values = staging_;
  }
  run.target().write(static_cast<std::size_t>(layer), 0, values);
}

std::size_t GraphEncoder::memory_bytes() const noexcept {
  std::size_t bytes = graph_memory_.capacity() + (frames_.capacity() + staging_.capacity()) * sizeof(float);
  for (const auto& backend : backends_) {
    bytes += ggml_backend_sched_get_buffer_size(scheduler_.get(), backend.get());
  }
  return bytes;
}

}  // namespace verbatim::whisper

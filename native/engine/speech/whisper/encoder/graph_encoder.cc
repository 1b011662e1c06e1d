#include "speech/whisper/encoder/graph_encoder.h"

#include <mutex>
#include <span>
#include <utility>

#include "error.h"
#include "speech/whisper_log.h"
#include "thread_count.h"
#include "transformer/gpu/sources.h"

namespace verbatim::whisper {
namespace {

[[noreturn]] void fail_for_memory() { throw EngineError(ErrorCode::kOutOfMemory, "no memory for the encoder"); }

ggml_backend_dev_t device_of(const Model& model) {
  return model.graph_device() == nullptr ? ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU)
                                         : model.graph_device();
}

}  // namespace

// Memory for the activations of the longest window, kept for the next window when one is done.
class GraphEncoder::ActivationMemory {
 public:
  explicit ActivationMemory(std::int64_t width) : width_(width) {}

  transformer::GpuStorage acquire(transformer::GpuDevice& device) {
    {
      const std::lock_guard lock(mutex_);
      if (spare_.buffer) return std::exchange(spare_, {});
    }
    ggml_context_ptr context = transformer::new_gpu_context(1);
    ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, width_, kMostPositions);
    return device.new_storage(std::move(context));
  }
  void release(transformer::GpuStorage storage) {
    const std::lock_guard lock(mutex_);
    spare_ = std::move(storage);
  }

 private:
  static constexpr std::int64_t kMostPositions = 1500;

  std::mutex mutex_;
  std::int64_t width_;
  transformer::GpuStorage spare_;
};

// The activations of a window.
struct GraphEncoder::State final : EncoderState {
  State(std::shared_ptr<ActivationMemory> from, transformer::GpuDevice& device, std::int64_t positions)
      : memory(std::move(from)), storage(memory->acquire(device)), context(transformer::new_gpu_context(1)) {
    ggml_tensor* const longest = ggml_get_first_tensor(storage.context.get());
    activation = ggml_view_2d(context.get(), longest, longest->ne[0], positions, longest->nb[1], 0);
  }
  ~State() override { memory->release(std::move(storage)); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  std::size_t memory_bytes() const noexcept override { return ggml_backend_buffer_get_size(storage.buffer.get()); }

  std::shared_ptr<ActivationMemory> memory;
  transformer::GpuStorage storage;
  ggml_context_ptr context;
  ggml_tensor* activation = nullptr;  // float32 [positions, d]
};

GraphEncoder::GraphEncoder(std::shared_ptr<const Model> model, int threads)
    : model_(std::move(model)),
      device_(device_of(*model_)),
      memory_(device_.new_allocator()),
      activations_(std::make_shared<ActivationMemory>(model_->shape().audio_state)),
      graph_memory_(encoder_graph_bytes()) {
  GraphEncoder::set_threads(threads);
}

GraphEncoder::~GraphEncoder() = default;

void GraphEncoder::set_threads(int threads) {
  require_thread_count(threads);
  device_.set_threads(threads);
}

std::unique_ptr<EncoderState> GraphEncoder::begin(const EncoderRun& run) {
  return std::make_unique<State>(activations_, device_, run.positions());
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
  device_.allocate(unit.graph, memory_.get());
  if (unit.mel != nullptr) set_mel(run, unit.mel);
  device_.compute(unit.graph);
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
  device_.upload(target, staging_.data(), ggml_nbytes(target));
}

void GraphEncoder::keep_cross(const EncoderRun& run, int layer, const ggml_tensor& rows) {
  const auto count = static_cast<std::size_t>(ggml_nelements(&rows));
  std::span<const float> values(static_cast<const float*>(rows.data), count);
  if (!ggml_backend_buffer_is_host(rows.buffer)) {
    staging_.resize(count);
    device_.download(&rows, staging_.data(), ggml_nbytes(&rows));
    values = staging_;
  }
  run.target().write(static_cast<std::size_t>(layer), 0, values);
}

std::size_t GraphEncoder::memory_bytes() const noexcept {
  return graph_memory_.capacity() + (frames_.capacity() + staging_.capacity()) * sizeof(float) +
         ggml_gallocr_get_buffer_size(memory_.get(), 0);
}

}  // namespace verbatim::whisper

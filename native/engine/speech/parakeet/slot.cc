#include "speech/parakeet/slot.h"

#include <parakeet.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "audio/sample_rate.h"
#include "error.h"
#include "milliseconds_since.h"
#include "speech/parakeet/samples.h"
#include "speech/parakeet/segments.h"
#include "speech/parakeet/window_request.h"
#include "speech/whisper_log.h"
#include "thread_count.h"

namespace verbatim::parakeet {
namespace {

struct StateDeleter {
  void operator()(parakeet_state* state) const noexcept { parakeet_free_state(state); }
};

// Controls one call of parakeet_full_with_state through its public callbacks.
class Pass {
 public:
  explicit Pass(const AbortFlag* abort) : abort_(abort) {}

  void attach(parakeet_full_params& params) {
    params.encoder_begin_callback = [](parakeet_context*, parakeet_state*, void* data) {
      Pass& pass = *static_cast<Pass*>(data);
      pass.timings_.mel_ms = pass.lap();
      return !pass.aborted();
    };
    // Called after the encoder pass and after every step.
    params.abort_callback = [](void* data) {
      Pass& pass = *static_cast<Pass*>(data);
      if (pass.timings_.encoder_passes == 0) {
        pass.timings_.encode_ms = pass.lap();
        pass.timings_.encoder_passes = 1;
      }
      return pass.aborted();
    };
    params.encoder_begin_callback_user_data = this;
    params.abort_callback_user_data = this;
  }
  // An abort is final: once seen, the flag is not polled again.
  bool aborted() noexcept {
    aborted_ = aborted_ || (abort_ != nullptr && abort_->is_set());
    return aborted_;
  }
  Timings finish() {
    timings_.decode_ms = lap();
    return timings_;
  }

 private:
  double lap() {
    const double spent = milliseconds_since(since_);
    since_ = std::chrono::steady_clock::now();
    return spent;
  }

  const AbortFlag* abort_;
  bool aborted_ = false;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  Timings timings_;
};

// whisper.cpp counts time in hundredths of a second.
double seconds_of(std::int64_t hundredths) { return static_cast<double>(hundredths) / 100.0; }

// Invalid weights can produce NaNs.
float probability_of(float probability) { return std::isnan(probability) ? 0.0f : std::clamp(probability, 0.0f, 1.0f); }

std::vector<TimedToken> tokens_of(parakeet_context* context, parakeet_state* state) {
  std::vector<TimedToken> tokens;
  for (int segment = 0; segment < parakeet_full_n_segments_from_state(state); ++segment) {
    for (int i = 0; i < parakeet_full_n_tokens_from_state(state, segment); ++i) {
      const parakeet_token_data data = parakeet_full_get_token_data_from_state(state, segment, i);
      std::string text = text_of_piece(parakeet_full_get_token_text_from_state(context, state, segment, i));
      if (text.empty()) continue;
      tokens.push_back({{data.id, std::move(text), probability_of(data.p)}, seconds_of(data.t0), seconds_of(data.t1)});
    }
  }
  return tokens;
}

}  // namespace

struct Slot::Impl {
  std::shared_ptr<const Model> model;
  int threads = 1;
  std::unique_ptr<parakeet_state, StateDeleter> state;
  // True if a window left the state unfinished.
  bool worn = false;
  // Frames of the longest window so far.
  int most_frames = 0;

  void renew();
  void run(Pass& pass, const Window& window);
  WindowResult decode(const Window& window, const DecodeOptions& options, const AbortFlag* abort);
};

// Frees the old state first, so that a GPU never holds two states of a slot.
void Slot::Impl::renew() {
  state.reset();
  take_whisper_error();
  {
    const std::unique_lock lock = lock_whisper_start();
    state.reset(parakeet_init_state(model->context()));
  }
  if (!state) {
    throw EngineError(ErrorCode::kOutOfMemory,
                      "no memory for a slot on " + model->info().device + ": " + take_whisper_error());
  }
  worn = false;
}

void Slot::Impl::run(Pass& pass, const Window& window) {
  std::vector<float> samples(window.samples.size());
  std::ranges::transform(window.samples, samples.begin(), sane);
  if (!state || worn) renew();
  parakeet_full_params params = parakeet_full_default_params(PARAKEET_SAMPLING_GREEDY);
  params.n_threads = threads;
  pass.attach(params);
  worn = true;
  take_whisper_error();
  const int status =
      parakeet_full_with_state(model->context(), state.get(), params, samples.data(), static_cast<int>(samples.size()));
  worn = status != 0;
  if (pass.aborted()) throw EngineError(ErrorCode::kAborted, "aborted by the caller");
  if (status != 0) {
    throw EngineError(ErrorCode::kInternalError,
                      "whisper.cpp failed (" + std::to_string(status) + "): " + take_whisper_error());
  }
}

WindowResult Slot::Impl::decode(const Window& window, const DecodeOptions& options, const AbortFlag* abort) {
  Pass pass(abort);
  run(pass, window);
  most_frames = std::max(most_frames, parakeet_n_len_from_state(state.get()));
  const std::vector<TimedToken> tokens = tokens_of(model->context(), state.get());
  return make_result(tokens, window, options, pass.finish());
}

Slot::Slot(std::shared_ptr<const Model> model, int threads) : impl_(std::make_unique<Impl>()) {
  require_thread_count(threads);
  impl_->model = std::move(model);
  impl_->threads = threads;
  impl_->renew();
}

Slot::~Slot() = default;

WindowResult Slot::transcribe(const Window& window, const DecodeOptions& options, const AbortFlag* abort) {
  if (!is_decoded(window, options, impl_->model->longest_window_seconds(), abort)) {
    return make_result({}, window, options, {});
  }
  try {
    return impl_->decode(window, options, abort);
  } catch (const std::bad_alloc&) {
    throw EngineError(ErrorCode::kOutOfMemory, "no memory for a window");
  }
}

// The features, the encoder's output, and the largest part of its graph: the first convolution's output, twice, and its
// input, at every second frame and every second band.
std::size_t Slot::memory_bytes() const noexcept {
  const ModelShape& shape = impl_->model->shape();
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  const std::size_t frames = size(impl_->most_frames);
  constexpr std::size_t kTaps = 9;
  const std::size_t subsampling =
      (2 * size(shape.subsampling_channels) + kTaps) * (size(shape.mels) / 2) * (frames / 2);
  const std::size_t features = frames * size(shape.mels);
  const std::size_t output = size(shape.audio_context) / 8 * size(shape.state);
  return sizeof(float) * (subsampling + features + output);
}

}  // namespace verbatim::parakeet

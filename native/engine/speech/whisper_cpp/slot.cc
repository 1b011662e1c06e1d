#include "speech/whisper_cpp/slot.h"

#include <whisper.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "accelerator/accelerator.h"
#include "error.h"
#include "milliseconds_since.h"
#include "speech/decode_options.h"
#include "speech/whisper/encoder/mel.h"
#include "speech/whisper_cpp/full_params.h"
#include "speech/whisper_cpp/prompt.h"
#include "speech/whisper_cpp/segments.h"
#include "speech/whisper_cpp/slot_words.h"
#include "speech/whisper_cpp/whisper_state.h"
#include "speech/whisper_cpp/window_pass.h"
#include "speech/whisper_log.h"
#include "speech/window_bounds.h"
#include "thread_count.h"

namespace verbatim {

struct Slot::Impl {
  std::shared_ptr<const SpeechModel> model;
  int threads = 1;
  StatePointer state;
  // True if the state drew random numbers (decoders[0].rng is seeded once) or was left unfinished.
  bool worn = false;
  // Encoder length of the state's earlier windows; 0 before the first.
  int padded_for = 0;
  std::optional<SlotWords> words;

  void renew();
  void prepare(int context);
  void give(const whisper::MelSpectrogram& spectrogram);
  int run(WindowPass& pass, const PassPlan& plan, const DecodeOptions& options, std::size_t samples,
          const whisper::MelSpectrogram& spectrogram);
  WindowResult decode(std::span<const float> samples, const DecodeOptions& options, const AbortFlag* abort);
};

// Frees the old state first, so that a GPU never holds two states of a slot.
void Slot::Impl::renew() {
  state.reset();
  take_whisper_error();
  const accelerator::StateScope scope(model->packed_weights());
  {
    const std::unique_lock lock = lock_whisper_start();
    state.reset(whisper_init_state(model->context()));
  }
  if (!state) {
    throw EngineError(ErrorCode::kOutOfMemory,
                      "no memory for a slot on " + model->info().device + ": " + take_whisper_error());
  }
  worn = false;
  padded_for = 0;
}

// Keeps a window from being affected by earlier ones. whisper.cpp's random numbers continue from window to window. And
// at an encoder length that is no multiple of 256, attention reads padding where a window of another length left its
// keys.
void Slot::Impl::prepare(int context) {
  const int length = context == 0 ? kFullAudioContext : context;
  const bool dirty_padding = length % kOwnLengthStep != 0 && padded_for != 0 && padded_for != length;
  if (!state || worn || dirty_padding) renew();
  padded_for = length;
}

// Includes the padding: whisper.cpp reads missing frames as 0, which is louder than silence.
void Slot::Impl::give(const whisper::MelSpectrogram& spectrogram) {
  const int frames = spectrogram.frames();
  const int bands = spectrogram.bands();
  std::vector<float> values(static_cast<std::size_t>(bands) * static_cast<std::size_t>(frames));
  spectrogram.copy(0, frames, values.data());
  if (whisper_set_mel_with_state(model->context(), state.get(), values.data(), frames, bands) != 0) {
    throw EngineError(ErrorCode::kInternalError, "whisper.cpp refused the features: " + take_whisper_error());
  }
}

int Slot::Impl::run(WindowPass& pass, const PassPlan& plan, const DecodeOptions& options, std::size_t samples,
                    const whisper::MelSpectrogram& spectrogram) {
  give(spectrogram);
  whisper_full_params params = full_params(options, threads);
  params.audio_ctx = audio_context(samples, options);
  // In tenths of frames. 0 would include the padding.
  params.duration_ms = 10 * spectrogram.frames_of_sound();
  const std::string& language = model->info().languages[static_cast<std::size_t>(plan.language)];
  params.language = language.c_str();
  params.prompt_tokens = plan.initial_prompt.data();
  params.prompt_n_tokens = static_cast<int>(plan.initial_prompt.size());
  params.carry_initial_prompt = !plan.initial_prompt.empty();
  pass.attach(params);
  worn = true;
  const int status = whisper_full_with_state(model->context(), state.get(), params, nullptr, 0);
  pass.finish();
  worn = pass.sampled() || status != 0;
  // whisper.cpp could not enlarge the cache and has freed the state itself.
  if (status == -7) std::ignore = state.release();
  return status;
}

WindowResult Slot::Impl::decode(std::span<const float> samples, const DecodeOptions& options, const AbortFlag* abort) {
  const SpeechModelInfo& info = model->info();
  const bool detect = options.language == "auto";
  PassPlan plan;
  plan.detect = detect && info.multilingual;
  plan.languages = static_cast<int>(info.languages.size());
  plan.language = std::max(0, language_id(info, detect ? options.language_guess : options.language));
  plan.initial_prompt = model->vocabulary().tokenize(options.initial_prompt);
  plan.most_encoder_passes = most_encoder_passes(samples.size());
  plan.threads = threads;

  WindowResult result;
  if (detect && !info.multilingual) result.language_probabilities = {{"en", 1.0f}};
  const auto start = std::chrono::steady_clock::now();
  const whisper::MelSpectrogram spectrogram = model->mel_extractor().spectrogram(samples);
  result.timings.mel_ms = milliseconds_since(start);
  result.timings.total_ms = result.timings.mel_ms;
  for (;;) {
    prepare(audio_context(samples.size(), options));
    WindowPass pass(model->context(), state.get(), plan, options, abort);
    take_whisper_error();
    const int status = run(pass, plan, options, samples.size(), spectrogram);
    result.timings += pass.timings();
    if (pass.aborted()) throw EngineError(ErrorCode::kAborted, "aborted by the caller");
    for (std::size_t id = 0; id < pass.language_probabilities().size(); ++id) {
      result.language_probabilities.emplace_back(info.languages[id], pass.language_probabilities()[id]);
    }
    if (pass.needs_rerun()) {
      plan.language = pass.language();
      plan.detect = false;
      continue;
    }
    if (status == -7) throw EngineError(ErrorCode::kOutOfMemory, "no memory for the decoder's cache");
    if (status != 0) {
      throw EngineError(ErrorCode::kInternalError,
                        "whisper.cpp failed (" + std::to_string(status) + "): " + take_whisper_error());
    }
    result.language = info.languages[static_cast<std::size_t>(pass.language())];
    result.segments = collect_segments(model->context(), state.get(), pass.no_speech_probabilities(),
                                       static_cast<double>(samples.size()) / kSampleRate);
    if (options.describe) {
      describe_segments(model->context(), state.get(), pass.temperatures(), result.segments);
    }
    score_tokens(model->context(), state.get(), result);
    return result;
  }
}

Slot::Slot(std::shared_ptr<const SpeechModel> model, int threads) : impl_(std::make_unique<Impl>()) {
  require_thread_count(threads);
  impl_->model = std::move(model);
  impl_->threads = threads;
  impl_->words.emplace(*impl_->model, threads);
  impl_->renew();
}

Slot::~Slot() = default;

WindowResult Slot::transcribe(const Window& window, const DecodeOptions& options, const AbortFlag* abort) {
  const SpeechModelInfo& info = impl_->model->info();
  check_decode_options(options, info);
  if (window.samples.size() > kLongestWindow) {
    throw EngineError(ErrorCode::kInvalidArgument, "the window is longer than 30 seconds");
  }
  if (abort != nullptr && abort->is_set()) throw EngineError(ErrorCode::kAborted, "aborted by the caller");
  if (window.samples.size() < kShortestWindow) {
    WindowResult nothing;
    const bool detect = options.language == "auto";
    const int id = std::max(0, language_id(info, detect ? options.language_guess : options.language));
    nothing.language = info.languages[static_cast<std::size_t>(id)];
    return nothing;
  }
  try {
    WindowResult result = impl_->decode(window.samples, options, abort);
    if (options.align) impl_->words->add(window, options, result, abort);
    return result;
  } catch (const std::bad_alloc&) {
    throw EngineError(ErrorCode::kOutOfMemory, "no memory for a window");
  }
}

// The three caches exactly (whisper_init_state), the compute buffers as measured: 64 bytes for each value of the
// encoder's state, and the rows of logits that are in use.
std::size_t Slot::memory_bytes() const noexcept {
  whisper_context* context = impl_->model->context();
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  const std::size_t state = size(whisper_model_n_text_state(context));
  const std::size_t layers = size(whisper_model_n_text_layer(context));
  constexpr std::size_t kTextCells = 512;
  constexpr std::size_t kAudioCells = 1536;
  constexpr std::size_t kKeyAndValue = 2 * sizeof(ggml_fp16_t);
  const std::size_t caches = kKeyAndValue * state * (layers * (kTextCells + kAudioCells) + kAudioCells);
  const std::size_t activations = 64 * kAudioCells * state;
  const std::size_t logits = 16 * sizeof(float) * size(whisper_n_vocab(context));
  const std::size_t workspace = accelerator::workspace_bytes(
      impl_->model->packed_weights().get(), size(whisper_model_n_audio_state(context)), impl_->threads);
  return caches + activations + logits + workspace + impl_->words->memory_bytes();
}

}  // namespace verbatim

#include "speech/whisper_cpp/window_pass.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "speech/whisper_cpp/prompt.h"

namespace verbatim {
namespace {

WindowPass& pass_of(void* user_data) { return *static_cast<WindowPass*>(user_data); }

// Sum of exp(x - max) over a row: the divisor of a softmax.
double softmax_sum(const float* row, int size, float max) {
  double sum = 0.0;
  for (int i = 0; i < size; ++i) sum += std::exp(static_cast<double>(row[i] - max));
  return sum;
}

}  // namespace

WindowPass::WindowPass(whisper_context* context, whisper_state* state, const PassPlan& plan,
                       const DecodeOptions& options, const AbortFlag* abort)
    : context_(context),
      state_(state),
      plan_(plan),
      options_(options),
      abort_(abort),
      language_(plan.language),
      sampled_(options.beam_size > 1 || options.temperature > 0.0f) {}

void WindowPass::attach(whisper_full_params& params) {
  params.encoder_begin_callback = [](whisper_context*, whisper_state*, void* data) {
    return pass_of(data).on_encoder_begin();
  };
  params.abort_callback = [](void* data) { return pass_of(data).on_computed(); };
  params.logits_filter_callback = [](whisper_context*, whisper_state*, const whisper_token_data*, int tokens, float*,
                                     void* data) { pass_of(data).on_logits(tokens); };
  params.new_segment_callback = [](whisper_context*, whisper_state*, int added, void* data) {
    WindowPass& pass = pass_of(data);
    pass.no_speech_.insert(pass.no_speech_.end(), static_cast<std::size_t>(added), pass.window_no_speech_);
    pass.temperatures_.insert(pass.temperatures_.end(), static_cast<std::size_t>(added), pass.temperature());
  };
  params.encoder_begin_callback_user_data = this;
  params.abort_callback_user_data = this;
  params.logits_filter_callback_user_data = this;
  params.new_segment_callback_user_data = this;
}

void WindowPass::finish() {
  (phase_ == Phase::kMel       ? timings_.mel_ms
   : phase_ == Phase::kEncoder ? timings_.encode_ms
                               : timings_.decode_ms) += lap();
  timings_.total_ms = std::chrono::duration<double, std::milli>(lap_ - start_).count();
  timings_.tokens = logits_rows_.load(std::memory_order_relaxed);
  timings_.fallbacks = std::max(0, prompts_ - timings_.encoder_passes);
}

bool WindowPass::aborted() const noexcept { return abort_ != nullptr && abort_->is_set(); }

Timings WindowPass::timings() const { return timings_; }

// whisper.cpp keeps the result of the last temperature it tried.
float WindowPass::temperature() const noexcept {
  const int fallbacks = std::max(0, prompts_ - earlier_prompts_ - 1);
  return options_.temperature + options_.temperature_increment * static_cast<float>(fallbacks);
}

// Called before an encoder pass; false ends the window with the segments found so far.
bool WindowPass::on_encoder_begin() {
  (phase_ == Phase::kMel ? timings_.mel_ms : timings_.decode_ms) += lap();
  if (aborted() || timings_.encoder_passes >= plan_.most_encoder_passes) return false;
  if (language_ != plan_.language) {
    rerun_.store(true, std::memory_order_relaxed);
    return false;
  }
  phase_ = Phase::kEncoder;
  return true;
}

// Called after an encoder pass or a decoder call; true makes whisper_full_with_state return an error.
bool WindowPass::on_computed() {
  if (aborted()) return true;
  if (phase_ == Phase::kEncoder) {
    timings_.encode_ms += lap();
    ++timings_.encoder_passes;
    earlier_prompts_ = prompts_;
    phase_ = Phase::kPrompt;
    read_start_of_transcript();
  } else if (phase_ == Phase::kPrompt) {
    phase_ = Phase::kSteps;
    if (language_ != plan_.language) decode_right_prompt();
  }
  return failed_ || needs_rerun();
}

// Called before tokens are sampled from a row of logits. A row without earlier tokens follows a prompt; the second
// prompt of an encoder pass is a fall-back to a higher temperature. Such rows come on the calling thread, others on any
// of whisper.cpp's threads.
void WindowPass::on_logits(int tokens_so_far) {
  if (tokens_so_far > 0) {
    logits_rows_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ++prompts_;
  const bool fallback = prompts_ > timings_.encoder_passes;
  const bool warm = fallback || options_.temperature > 0.0f;
  logits_rows_.fetch_add(warm ? options_.best_of : options_.beam_size, std::memory_order_relaxed);
  if (!fallback) return;
  sampled_ = true;
  if (language_ != plan_.language) rerun_.store(true, std::memory_order_relaxed);
}

void WindowPass::read_start_of_transcript() {
  const whisper_token start = whisper_token_sot(context_);
  if (whisper_decode_with_state(context_, state_, &start, 1, 0, plan_.threads) != 0) {
    failed_ = true;
    return;
  }
  const float* logits = whisper_get_logits_from_state(state_);
  const int size = whisper_n_vocab(context_);
  const float max = *std::max_element(logits, logits + size);
  const float no_speech = logits[whisper_token_nosp(context_)];
  window_no_speech_ =
      static_cast<float>(std::exp(static_cast<double>(no_speech - max)) / softmax_sum(logits, size, max));
  if (plan_.detect && language_probabilities_.empty()) detect_language(logits);
}

void WindowPass::detect_language(const float* logits) {
  const float* first = logits + whisper_token_lang(context_, 0);
  const float* best = std::max_element(first, first + plan_.languages);
  const double sum = softmax_sum(first, plan_.languages, *best);
  for (int id = 0; id < plan_.languages; ++id) {
    language_probabilities_.push_back(static_cast<float>(std::exp(static_cast<double>(first[id] - *best)) / sum));
  }
  language_ = static_cast<int>(best - first);
}

void WindowPass::decode_right_prompt() {
  const auto prompt = first_prompt(context_, plan_.initial_prompt, language_, options_);
  failed_ = whisper_decode_with_state(context_, state_, prompt.data(), static_cast<int>(prompt.size()), 0,
                                      plan_.threads) != 0;
}

double WindowPass::lap() {
  const Clock::time_point now = Clock::now();
  const double milliseconds = std::chrono::duration<double, std::milli>(now - lap_).count();
  lap_ = now;
  return milliseconds;
}

}  // namespace verbatim

#pragma once

#include <whisper.h>

#include <atomic>
#include <chrono>
#include <utility>
#include <vector>

#include "abort.h"
#include "speech/decode.h"

namespace verbatim {

// Settings of a pass that are not in whisper_full_params.
struct PassPlan {
  // whisper.cpp's language id in the parameters: the right one, or the guess when `detect` is set.
  int language = 0;
  bool detect = false;
  // Languages of the model, for detection.
  int languages = 1;
  std::vector<whisper_token> initial_prompt;
  // Most encoder passes. A model that keeps setting time stamps a few hundredths of a second apart would encode the
  // same window hundreds of times.
  int most_encoder_passes = 1;
  int threads = 1;
};

// Controls one call of whisper_full_with_state through its public callbacks.
//
// It detects the language without a second encoder pass. whisper_full_with_state calls abort_callback at the end of
// every encoder pass (the cross-attention keys and values exist by then) and at the end of every decoder call, before
// it reads the logits. So:
//
// 1. After the encoder, abort_callback decodes <|startoftranscript|> alone. whisper_lang_auto_detect_with_state does
//    exactly the same after its own encoder pass and leaves the state the same: whisper_full_with_state clears the
//    self-attention cache before it decodes the prompt. The softmax over the language tokens gives the probabilities.
// 2. If the language differs from the guess, the prompt that whisper_full_with_state decodes next has exactly one wrong
//    token. The abort_callback after that call decodes the right prompt from position 0: whisper_decode_with_state
//    frees the cells of sequence 0, takes the same cells again (both prompts have the same length) and writes the last
//    token's logits to the same row. Beams copy their cells from sequence 0 only later.
// 3. whisper_full_with_state keeps the wrong prompt, though. It decodes it again when it falls back to a higher
//    temperature or encodes a second stretch of the window. Then the pass stops with needs_rerun(), and the caller
//    repeats it with the language that is known by then. That is no more encoder work than whisper.cpp's own language
//    detection.
//
// The same decoder call corrects the no-speech probability. whisper.cpp reads it from the first row of the logits,
// which a prompt of more than one token does not write: the row holds what an earlier call left there, such as another
// window's logits (whisper.cpp's pull requests 3945 and 4068). After step 1 it holds the logits of
// <|startoftranscript|>, where Whisper was trained to put the no-speech token.
class WindowPass {
 public:
  // All references must outlive the pass. `abort` may be null.
  WindowPass(whisper_context* context, whisper_state* state, const PassPlan& plan, const DecodeOptions& options,
             const AbortFlag* abort);
  WindowPass(const WindowPass&) = delete;
  WindowPass& operator=(const WindowPass&) = delete;

  // Installs the callbacks.
  void attach(whisper_full_params& params);
  // To be called when whisper_full_with_state has returned.
  void finish();

  bool aborted() const noexcept;
  // True if the result is of the wrong language: repeat the call with language().
  bool needs_rerun() const noexcept { return rerun_.load(std::memory_order_relaxed); }
  // True if random numbers were drawn, so that the state is not as new.
  bool sampled() const noexcept { return sampled_; }
  int language() const noexcept { return language_; }
  // By whisper.cpp's language id; empty unless detected.
  const std::vector<float>& language_probabilities() const noexcept { return language_probabilities_; }
  // One for each segment of the result.
  const std::vector<float>& no_speech_probabilities() const noexcept { return no_speech_; }
  // One for each segment of the result.
  const std::vector<float>& temperatures() const noexcept { return temperatures_; }
  Timings timings() const;

 private:
  enum class Phase { kMel, kEncoder, kPrompt, kSteps };
  using Clock = std::chrono::steady_clock;

  bool on_encoder_begin();
  bool on_computed();
  void on_logits(int tokens_so_far);
  void read_start_of_transcript();
  void decode_right_prompt();
  void detect_language(const float* logits);
  float temperature() const noexcept;
  double lap();

  whisper_context* context_;
  whisper_state* state_;
  const PassPlan& plan_;
  const DecodeOptions& options_;
  const AbortFlag* abort_;

  Phase phase_ = Phase::kMel;
  Clock::time_point start_ = Clock::now();
  Clock::time_point lap_ = start_;
  int language_ = 0;
  bool failed_ = false;
  bool sampled_ = false;
  float window_no_speech_ = 0.0f;
  std::vector<float> language_probabilities_;
  std::vector<float> no_speech_;
  std::vector<float> temperatures_;
  Timings timings_;
  int prompts_ = 0;
  // Number of prompts before the current encoder pass.
  int earlier_prompts_ = 0;
  // Also counted on whisper.cpp's sampling threads.
  std::atomic<int> logits_rows_{0};
  std::atomic<bool> rerun_{false};
};

}  // namespace verbatim

#include "speech/whisper/windows/window_encoder.h"

#include <chrono>

#include "error.h"
#include "milliseconds_since.h"

namespace verbatim::whisper {
namespace {

using Clock = std::chrono::steady_clock;

WhisperWindow& ours(WindowInFlight& window) {
  auto* const found = dynamic_cast<WhisperWindow*>(&window);
  if (found == nullptr || found->stage() != WindowStage::kEncode) {
    throw EngineError(ErrorCode::kInvalidArgument, "the window is not one that an encoder of this model works on now");
  }
  return *found;
}

}  // namespace

void WhisperEncoder::advance(WindowInFlight& window) {
  WhisperWindow& current = ours(window);
  const auto start = Clock::now();
  const double mel_before = current.timings.mel_ms;
  try {
    if (current.abort_flag().is_set()) return current.end_aborted();
    if (!current.run) begin_pass(current);
    const bool is_complete = encoder_->advance(*current.run, &current.abort_flag());
    // Only the first unit reads the features. Computing them again for another pass costs less than keeping them for
    // every window.
    current.mel.reset();
    const double spent = milliseconds_since(start);
    current.timings.encode_ms += spent - (current.timings.mel_ms - mel_before);
    current.timings.total_ms += spent;
    if (is_complete) {
      current.run.reset();
      current.decoding().encoded();
    }
    current.go_on();
  } catch (...) {
    current.fail(std::current_exception());
  }
}

void WhisperEncoder::begin_pass(WhisperWindow& window) {
  if (!window.mel) {
    const auto start = Clock::now();
    window.mel = mel_.spectrogram(window.samples());
    window.timings.mel_ms += milliseconds_since(start);
  }
  if (!window.source) window.source = caches_.make_cross_cache(window.positions());
  window.run = std::make_unique<EncoderRun>(*model_, *window.mel, window.decoding().seek(),
                                            static_cast<int>(window.positions()), *window.source);
}

}  // namespace verbatim::whisper

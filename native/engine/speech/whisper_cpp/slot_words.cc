#include "speech/whisper_cpp/slot_words.h"

#include <chrono>
#include <span>
#include <vector>

#include "milliseconds_since.h"
#include "speech/alignment/text_words.h"
#include "speech/alignment/word_times.h"
#include "speech/decode_options.h"
#include "speech/whisper/decoding/window_prompt.h"

namespace verbatim {

void SlotWords::add(const Window& window, const DecodeOptions& options, WindowResult& result, const AbortFlag* abort) {
  const auto start = std::chrono::steady_clock::now();
  align(window, options, result, abort);
  const double spent = milliseconds_since(start);
  result.timings.decode_ms += spent;
  result.timings.total_ms += spent;
}

// Aligns all segments in one pass from the window's beginning. One pass holds the whole window, however many
// whisper.cpp took.
void SlotWords::align(const Window& window, const DecodeOptions& options, WindowResult& result,
                      const AbortFlag* abort) {
  std::vector<whisper::TokenId> text;
  for (const Segment& segment : result.segments) {
    for (const Token& token : segment.tokens) text.push_back(token.id);
  }
  if (text.empty()) return;
  const whisper::LoadedModel& model = model_.word_model();
  if (!aligner_) aligner_ = std::make_unique<whisper::TextAligner>(model, threads_);
  const whisper::DecodingModel& decoding = model.decoding();
  const whisper::WindowPrompt prompt(decoding.tokens, options.task, decoding.time_stamps, decoding.text_positions, {});
  const int context = audio_context(window.samples.size(), options);
  const auto pass = aligner_->align(window.samples, context == 0 ? kFullAudioContext : context,
                                    prompt.plain(language_id(model_.info(), result.language)), text,
                                    decoding.alignment_heads, abort, window.speech);
  std::vector<double> starts;
  for (const std::size_t position : pass.starts())
    starts.push_back(static_cast<double>(position) * whisper::kPositionSeconds);
  const bool spaced = options.task == SpeechTask::kTranslate || alignment::has_spaces(result.language);
  std::size_t first = 0;
  for (Segment& segment : result.segments) {
    const auto own = std::span(starts).subspan(first, segment.tokens.size() + 1);
    segment.words = alignment::make_words(segment.tokens, own, spaced);
    first += segment.tokens.size();
  }
  alignment::place_words(result.segments, window.speech, window.seconds());
}

}  // namespace verbatim

#include "speech/whisper/alignment/align_text.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "error.h"
#include "require_option.h"
#include "speech/alignment/text_words.h"
#include "speech/decode_options.h"
#include "speech/whisper/alignment/text_aligner.h"
#include "speech/whisper/decoding/window_prompt.h"
#include "speech/whisper/model/alignment_heads.h"
#include "speech/window_bounds.h"

namespace verbatim::whisper {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw EngineError(ErrorCode::kInvalidArgument, why); }

// Every head of the sets, once.
HeadSet all_of(std::span<const HeadSet> sets, const ModelShape& shape) {
  if (sets.empty()) refuse("no set of heads is given");
  HeadSet all;
  for (const HeadSet& set : sets) {
    if (set.empty()) refuse("a set of heads is empty");
    for (const auto& head : alignment_heads(shape, set)) {
      if (std::ranges::find(all, head) == all.end()) all.push_back(head);
    }
  }
  return all;
}

std::vector<std::size_t> places_of(const HeadSet& set, const HeadSet& all) {
  std::vector<std::size_t> places;
  for (const auto& head : set) places.push_back(static_cast<std::size_t>(std::ranges::find(all, head) - all.begin()));
  return places;
}

std::vector<TokenId> tokens_of(const LoadedModel& loaded, const KnownText& text) {
  std::vector<TokenId> tokens = loaded.model()->vocabulary().tokenize(text.text);
  if (tokens.empty()) refuse("the text has nothing that the model can write");
  return tokens;
}

}  // namespace

TextAlignment align_text(const LoadedModel& loaded, const SpeechModelInfo& model, const Window& window,
                         const KnownText& text, std::span<const HeadSet> sets, int threads, const AbortFlag* abort) {
  DecodeOptions options;
  options.language = text.language;
  options.own_length = text.own_length;
  check_decode_options(options, model);
  if (text.language == "auto") refuse("the language of a known text cannot be \"auto\"");
  if (window.samples.size() > kLongestWindow) refuse("the window is longer than 30 seconds");
  if (window.samples.empty()) refuse("the window is empty");
  const Vocabulary& vocabulary = loaded.model()->vocabulary();
  const HeadSet heads = all_of(sets, loaded.model()->shape());
  const std::vector<TokenId> tokens = tokens_of(loaded, text);
  const WindowPrompt prompt(vocabulary.special(), SpeechTask::kTranscribe, true, loaded.decoding().text_positions, {});
  const int context = audio_context(window.samples.size(), options);
  TextAligner aligner(loaded, threads);
  const PassAlignment pass =
      aligner.align(window.samples, context == 0 ? kFullAudioContext : context,
                    prompt.plain(language_id(model, text.language)), tokens, heads, abort, window.speech);

  std::vector<std::string_view> pieces;
  for (const TokenId token : tokens) pieces.push_back(vocabulary.text(token));
  const auto words = alignment::cut_words(pieces, alignment::has_spaces(text.language));
  TextAlignment result;
  for (const alignment::TextWord& word : words) result.words.push_back(word.text);
  for (const HeadSet& set : sets) {
    const std::vector<std::size_t> starts = pass.starts(places_of(set, heads));
    TextAlignment::Times& times = result.times.emplace_back();
    for (const alignment::TextWord& word : words) {
      times.starts.push_back(static_cast<double>(starts[word.first]) * kPositionSeconds);
      times.ends.push_back(static_cast<double>(starts[word.last]) * kPositionSeconds);
    }
  }
  return result;
}

}  // namespace verbatim::whisper

#include "speech/whisper/decoding/window_prompt.h"

#include <algorithm>
#include <cstddef>

namespace verbatim::whisper {
namespace {

// whisper.cpp's WHISPER_HISTORY_CONDITIONING_TEMP_CUTOFF.
constexpr float kTooWarmForThePast = 0.5f;

std::vector<TokenId> last(const std::vector<TokenId>& tokens, std::size_t count) {
  return {tokens.end() - static_cast<std::ptrdiff_t>(std::min(tokens.size(), count)), tokens.end()};
}

}  // namespace

WindowPrompt::WindowPrompt(const SpecialTokens& tokens, SpeechTask task, bool time_stamps, int positions,
                           const std::vector<TokenId>& initial)
    : tokens_(tokens),
      task_(task),
      time_stamps_(time_stamps),
      longest_past_(static_cast<std::size_t>(positions / 2 - 1)),
      carries_initial_(!initial.empty()),
      initial_(last(initial, longest_past_)) {}

std::vector<TokenId> WindowPrompt::before(float temperature) const {
  if (!(temperature < kTooWarmForThePast)) return {};
  std::vector<TokenId> tokens = initial_;
  const auto past = last(past_, longest_past_ - initial_.size());
  tokens.insert(tokens.end(), past.begin(), past.end());
  return tokens;
}

void WindowPrompt::clear() {
  initial_.clear();
  past_.clear();
}

std::vector<TokenId> WindowPrompt::at(float temperature, int language) const {
  std::vector<TokenId> prompt;
  const auto prefix = before(temperature);
  if (!prefix.empty()) {
    prompt.push_back(tokens_.start_of_previous);
    prompt.insert(prompt.end(), prefix.begin(), prefix.end());
  }
  add_start(prompt, language);
  if (!time_stamps_) prompt.push_back(tokens_.no_time_stamps);
  return prompt;
}

std::vector<TokenId> WindowPrompt::plain(int language) const {
  std::vector<TokenId> prompt;
  add_start(prompt, language);
  prompt.push_back(tokens_.no_time_stamps);
  return prompt;
}

void WindowPrompt::add_start(std::vector<TokenId>& prompt, int language) const {
  prompt.push_back(tokens_.start_of_transcript);
  if (!tokens_.multilingual) return;
  prompt.push_back(tokens_.language(language));
  prompt.push_back(task_ == SpeechTask::kTranslate ? tokens_.translate : tokens_.transcribe);
}

void WindowPrompt::go_on(float temperature, std::span<const DecodedToken> text) {
  past_ = carries_initial_ ? std::vector<TokenId>() : before(temperature);
  for (const DecodedToken& token : text) past_.push_back(token.id);
}

}  // namespace verbatim::whisper

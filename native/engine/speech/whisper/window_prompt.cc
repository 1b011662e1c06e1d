#include "speech/whisper/window_prompt.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace verbatim::whisper {
namespace {

// whisper.cpp's WHISPER_HISTORY_CONDITIONING_TEMP_CUTOFF.
constexpr float kTooWarmForThePast = 0.5f;

}  // namespace

WindowPrompt::WindowPrompt(const SpecialTokens& tokens, SpeechTask task, bool time_stamps, int positions,
                           std::vector<TokenId> initial)
    : tokens_(tokens),
      task_(task),
      time_stamps_(time_stamps),
      longest_past_(static_cast<std::size_t>(positions / 2 - 1)),
      past_(std::move(initial)) {}

std::span<const TokenId> WindowPrompt::past(float temperature) const {
  if (!(temperature < kTooWarmForThePast)) return {};
  return std::span(past_).last(std::min(past_.size(), longest_past_));
}

std::vector<TokenId> WindowPrompt::at(float temperature, int language) const {
  std::vector<TokenId> prompt;
  const auto before = past(temperature);
  if (!before.empty()) {
    prompt.push_back(tokens_.start_of_previous);
    prompt.insert(prompt.end(), before.begin(), before.end());
  }
  prompt.push_back(tokens_.start_of_transcript);
  if (tokens_.multilingual) {
    prompt.push_back(tokens_.language(language));
    prompt.push_back(task_ == SpeechTask::kTranslate ? tokens_.translate : tokens_.transcribe);
  }
  if (!time_stamps_) prompt.push_back(tokens_.no_time_stamps);
  return prompt;
}

void WindowPrompt::go_on(float temperature, std::span<const DecodedToken> text) {
  const auto before = past(temperature);
  past_ = std::vector(before.begin(), before.end());
  for (const DecodedToken& token : text) past_.push_back(token.id);
}

}  // namespace verbatim::whisper

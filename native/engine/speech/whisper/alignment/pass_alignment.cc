#include "speech/whisper/alignment/pass_alignment.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "audio/sample_rate.h"
#include "speech/alignment/characters.h"
#include "speech/alignment/token_durations.h"
#include "speech/utf8.h"

namespace verbatim::whisper {
namespace {

constexpr int kHundredthsPerPosition = 2;

constexpr float kPunctuationLength = 0.25f;
constexpr std::size_t kSamplesPerPosition = kSampleRate / 50;

// Number of text tokens whose attention is recorded: the prompt's last row shows the first token, and so on up to the
// decoder's last position.
std::size_t tokens_shown(std::size_t prompt, std::size_t text, std::size_t text_positions) {
  return std::min(text, 1 + text_positions - prompt);
}

// Expected length of a token: its bytes without the space before a word, which takes no time, at least 1. Punctuation
// counts little, since pauses are left out.
float length_of(std::string_view piece) {
  if (alignment::is_punctuation(valid_utf8(piece))) return kPunctuationLength;
  const std::size_t spaces = std::min(piece.find_first_not_of(' '), piece.size());
  return static_cast<float>(std::max(piece.size() - spaces, std::size_t{1}));
}

}  // namespace

std::vector<std::size_t> positions_of_speech(std::span<const SpeechSpan> speech, std::size_t begin, int hundredths,
                                             std::size_t most) {
  const int count = std::max((hundredths + kHundredthsPerPosition - 1) / kHundredthsPerPosition, 1);
  std::vector<std::size_t> all(std::min(static_cast<std::size_t>(count), most));
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::size_t> spoken;
  std::ranges::copy_if(all, std::back_inserter(spoken), [&](std::size_t position) {
    const std::size_t first = begin + position * kSamplesPerPosition, last = first + kSamplesPerPosition;
    return std::ranges::any_of(speech, [&](const SpeechSpan& span) { return span.begin < last && span.end > first; });
  });
  return spoken.empty() ? all : spoken;
}

PassAlignment::PassAlignment(std::vector<TokenId> prompt, std::span<const TokenId> text,
                             std::span<const std::string_view> pieces, std::size_t heads,
                             std::vector<std::size_t> positions, std::size_t text_positions)
    : text_(text.size()),
      first_row_(prompt.size() - 1),
      weights_(heads, tokens_shown(prompt.size(), text.size(), text_positions), std::move(positions)) {
  for (const std::string_view piece : pieces.first(weights_.tokens())) lengths_.push_back(length_of(piece));
  request_.parents = {DecodingRequest::kNewText};
  const std::size_t rows = first_row_ + weights_.tokens();
  for (std::size_t i = 0; i < rows; ++i) {
    const TokenId token = i < prompt.size() ? prompt[i] : text[i - prompt.size()];
    request_.rows.push_back({token, 0, false, i >= first_row_});
  }
}

void PassAlignment::on_attention(std::size_t row, std::size_t head, std::span<const float> weights) noexcept {
  weights_.set(head, row - first_row_, weights);
}

std::vector<std::size_t> PassAlignment::starts() const { return starts(weights_.likeness()); }

std::vector<std::size_t> PassAlignment::starts(std::span<const std::size_t> heads) const {
  return starts(weights_.likeness(heads));
}

std::vector<std::size_t> PassAlignment::starts(const alignment::TokenMatrix& likeness) const {
  const auto positions = weights_.positions();
  std::vector<std::size_t> starts = alignment::token_starts(likeness, lengths_);
  for (std::size_t& start : starts) start = start < positions.size() ? positions[start] : positions.back() + 1;
  starts.resize(text_ + 1, starts.back());
  return starts;
}

}  // namespace verbatim::whisper

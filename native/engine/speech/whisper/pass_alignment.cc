#include "speech/whisper/pass_alignment.h"

#include <algorithm>
#include <utility>

#include "speech/alignment/time_warping.h"

namespace verbatim::whisper {
namespace {

constexpr int kHundredthsPerPosition = 2;

// The prompt's last row and one for each token that the decoder has a position for.
std::size_t rows_of(std::size_t prompt, std::size_t text, std::size_t text_positions) {
  return 1 + std::min(text, text_positions - prompt);
}

}  // namespace

std::size_t positions_of_sound(int hundredths, std::size_t most) noexcept {
  const int positions = (hundredths + kHundredthsPerPosition - 1) / kHundredthsPerPosition;
  return std::min(static_cast<std::size_t>(std::max(positions, 1)), most);
}

PassAlignment::PassAlignment(std::vector<TokenId> prompt, std::span<const TokenId> text, std::size_t heads,
                             std::size_t positions, std::size_t text_positions)
    : text_(text.size()),
      first_row_(prompt.size() - 1),
      weights_(heads, rows_of(prompt.size(), text.size(), text_positions), positions) {
  request_.parents = {DecodingRequest::kNewText};
  const std::size_t rows = first_row_ + rows_of(prompt.size(), text.size(), text_positions);
  for (std::size_t i = 0; i < rows; ++i) {
    const TokenId token = i < prompt.size() ? prompt[i] : text[i - prompt.size()];
    request_.rows.push_back({token, 0, false, i >= first_row_});
  }
}

void PassAlignment::visit(std::size_t row, std::size_t head, std::span<const float> weights) noexcept {
  weights_.set(head, row - first_row_, weights);
}

std::vector<std::size_t> PassAlignment::starts() const {
  return padded(alignment::token_starts(weights_.likeness()));
}

std::vector<std::size_t> PassAlignment::starts(std::span<const std::size_t> heads) const {
  return padded(alignment::token_starts(weights_.likeness(heads)));
}

std::vector<std::size_t> PassAlignment::padded(std::vector<std::size_t> starts) const {
  starts.resize(text_ + 1, starts.back());
  return starts;
}

}  // namespace verbatim::whisper

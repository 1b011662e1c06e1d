#include "speech/whisper/decoding/sequence_score.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace verbatim::whisper {
namespace {

std::vector<TokenId> text_of(std::span<const DecodedToken> tokens, const SpecialTokens& special) {
  std::vector<TokenId> text;
  text.reserve(tokens.size());
  for (const DecodedToken& token : tokens) {
    if (special.is_text(token.id)) text.push_back(token.id);
  }
  return text;
}

// Length of the longest run in which each token equals the one `period` tokens before it.
std::size_t longest_stretch(const std::vector<TokenId>& text, std::size_t period) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (std::size_t i = period; i < text.size(); ++i) {
    run = text[i] == text[i - period] ? run + 1 : 0;
    if (run > 0) longest = std::max(longest, run + period);
  }
  return longest;
}

}  // namespace

double average_log_probability(std::span<const DecodedToken> tokens) {
  if (tokens.empty()) return -std::numeric_limits<double>::infinity();
  double sum = 0.0;
  for (const DecodedToken& token : tokens) sum += static_cast<double>(token.log_probability);
  return sum / static_cast<double>(tokens.size());
}

double entropy(std::span<const DecodedToken> tokens) {
  const auto last = tokens.last(std::min(tokens.size(), kEntropyTokens));
  std::vector<TokenId> ids;
  for (const DecodedToken& token : last) ids.push_back(token.id);
  std::ranges::sort(ids);
  double sum = 0.0;
  for (auto i = ids.begin(); i != ids.end();) {
    const auto next = std::upper_bound(i, ids.end(), *i);
    const double share = static_cast<double>(next - i) / static_cast<double>(ids.size());
    sum -= share * std::log(share);
    i = next;
  }
  return sum;
}

bool loops(std::span<const DecodedToken> tokens, const SpecialTokens& special) {
  const std::vector<TokenId> text = text_of(tokens, special);
  for (std::size_t period = 1; period <= kLongestLoopPhrase; ++period) {
    if (longest_stretch(text, period) >= std::max(kLoopTokens, kLoopRounds * period)) return true;
  }
  return false;
}

}  // namespace verbatim::whisper

#include "speech/whisper/decoding/beam_search.h"

#include <algorithm>

namespace verbatim::whisper {
namespace {

bool is_better(const BeamCandidate& a, const BeamCandidate& b) {
  if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
  return a.hypothesis < b.hypothesis;
}

bool is_same_text(const BeamCandidate& a, const BeamCandidate& b, std::span<const Hypothesis> hypotheses) {
  if (a.token.id != b.token.id) return false;
  return a.hypothesis == b.hypothesis ||
         std::ranges::equal(hypotheses[a.hypothesis].tokens, hypotheses[b.hypothesis].tokens, {}, &DecodedToken::id,
                            &DecodedToken::id);
}

}  // namespace

std::vector<BeamCandidate> choose_beams(std::vector<BeamCandidate>& candidates, std::span<const Hypothesis> hypotheses,
                                        std::size_t count) {
  std::sort(candidates.begin(), candidates.end(), is_better);
  const bool first = hypotheses[candidates.front().hypothesis].tokens.empty();
  std::vector<BeamCandidate> chosen;
  std::size_t next = 0;
  while (chosen.size() < count) {
    if (next >= candidates.size()) next = 0;
    const BeamCandidate& candidate = candidates[next++];
    while (!first && next < candidates.size() && is_same_text(candidates[next], candidate, hypotheses)) ++next;
    chosen.push_back(candidate);
  }
  return chosen;
}

}  // namespace verbatim::whisper

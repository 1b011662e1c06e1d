#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "speech/whisper/decoding/hypothesis.h"

namespace verbatim::whisper {

// A text extended by one token.
struct BeamCandidate {
  std::size_t hypothesis = 0;
  DecodedToken token;
  // Log probability of the extended text.
  double log_probability = 0.0;
};

// Chooses the candidate that each of `count` beams continues with, as whisper.cpp does: the best first. The same text
// is taken only once, except at the first token. When there are too few candidates, it starts again with the best.
// candidates: at least one, in the order of their hypotheses; sorted in place.
std::vector<BeamCandidate> choose_beams(std::vector<BeamCandidate>& candidates, std::span<const Hypothesis> hypotheses,
                                        std::size_t count);

}  // namespace verbatim::whisper

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "speech/whisper/hypothesis.h"

namespace verbatim::whisper {

// A text with one token more.
struct BeamCandidate {
  std::size_t hypothesis = 0;
  DecodedToken token;
  // Of the longer text.
  double log_probability = 0.0;
};

// The candidate that each of `count` beams goes on with, as whisper.cpp chooses: the best first, the same
// text only once but for the first token, and from the start again when there are too few.
// candidates: one at least, in the order of their hypotheses; sorted here.
std::vector<BeamCandidate> choose_beams(std::vector<BeamCandidate>& candidates,
                                        std::span<const Hypothesis> hypotheses, std::size_t count);

}  // namespace verbatim::whisper

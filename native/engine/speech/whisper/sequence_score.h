#pragma once

#include <span>

#include "speech/whisper/hypothesis.h"

namespace verbatim::whisper {

// Mean log probability of a text's tokens: the score by which whisper.cpp ranks texts (it knows a length
// penalty, which its command line leaves out too). Minus infinity for none.
double average_log_probability(std::span<const DecodedToken> tokens);

// Entropy, in nats, of which tokens the last 32 are: low where few of them return again and again.
double entropy(std::span<const DecodedToken> tokens);
// Shorter texts are not judged by their entropy.
inline constexpr std::size_t kEntropyTokens = 32;

// Whether the text, time stamps left out, has a phrase of one to eight tokens that is said at least five
// times on end and fills at least sixteen tokens: "dos dos dos …", which is too short for the entropy to
// tell. People say "no," seven times on end, two tokens each, and sing a line four times.
bool loops(std::span<const DecodedToken> tokens, const SpecialTokens& special);
inline constexpr std::size_t kLongestLoopPhrase = 8;
inline constexpr std::size_t kLoopRounds = 5;
inline constexpr std::size_t kLoopTokens = 16;

}  // namespace verbatim::whisper

#pragma once

#include <span>

#include "speech/whisper/decoding/hypothesis.h"

namespace verbatim::whisper {

// Mean log probability of a text's tokens: the score by which whisper.cpp ranks texts. Its length penalty is left out,
// as in its command line. Minus infinity for an empty text.
double average_log_probability(std::span<const DecodedToken> tokens);

// Entropy, in nats, of the distribution of the last 32 tokens: low where few tokens repeat.
double entropy(std::span<const DecodedToken> tokens);
// Shorter texts are not judged by their entropy.
inline constexpr std::size_t kEntropyTokens = 32;

// Whether the text, without time stamps, repeats a phrase of one to eight tokens at least five times in a row over at
// least sixteen tokens, such as "dos dos dos …". That is too short for entropy() to detect. The limits permit speech:
// people repeat "no," (two tokens) seven times, and sing a line four times.
bool loops(std::span<const DecodedToken> tokens, const SpecialTokens& special);
inline constexpr std::size_t kLongestLoopPhrase = 8;
inline constexpr std::size_t kLoopRounds = 5;
inline constexpr std::size_t kLoopTokens = 16;

}  // namespace verbatim::whisper

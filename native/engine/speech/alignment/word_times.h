#pragma once

#include <span>
#include <vector>

#include "audio/cutting/window.h"
#include "speech/decode.h"

namespace verbatim::alignment {

// The words of a segment. tokens: the segment's text tokens. starts: where each token begins, in seconds of the window,
// followed by the end of the last one. spaced: as in cut_words().
std::vector<Word> make_words(std::span<const Token> tokens, std::span<const double> starts, bool spaced);

// Corrects the times of a window's words, which come from the aligner, and sets the segments' times from them.
//
// - A word that begins a sentence is not stretched over the pause before it, nor is the last word of a segment
//   stretched over the pause behind it. It is at most twice as long as a word of so many letters usually is in this
//   window (after add_word_timestamps in OpenAI's whisper/timing.py).
// - A gap between stretches of `speech` takes the nearest border between two words, at most 0.3 s and twice the gap's
//   length away. One word then ends where the gap begins, and the next begins where the gap ends.
// - A start within a gap of `speech` moves to the gap's end, an end within it to the gap's beginning. A word that lies
//   in a gap moves to the nearer of its ends. Where `speech` is empty nothing moves.
// - Times never decrease, words never overlap, and all is within [0, seconds], the window's length.
void place_words(std::vector<Segment>& segments, std::span<const SpeechSpan> speech, double seconds);

}  // namespace verbatim::alignment

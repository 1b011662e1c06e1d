#pragma once

#include <span>
#include <vector>

#include "audio/cutting/window.h"
#include "speech/decode.h"

namespace verbatim::alignment {

// The words of a segment. tokens: its tokens of text. starts: where each begins, seconds of the window, and
// last where the last one ends. spaced: as in cut_words().
std::vector<Word> make_words(std::span<const Token> tokens, std::span<const double> starts, bool spaced);

// Mends the times of a window's words, which are the aligner's, and sets the segments' from them.
//
// - A word that begins a sentence is not drawn out over the pause before it, nor the last one of a segment
//   over the pause behind it: at most twice what is usual in this window for a word, or for so many letters
//   (after add_word_timestamps in OpenAI's whisper/timing.py).
// - A gap between stretches of `speech` takes the nearest border between two words, 0.3 s and twice its own
// length
//   away at most: one ends where it begins, the next begins where it ends.
// - A start in a gap of `speech` moves to the gap's end, an end to the gap's beginning; a word that lies in a
//   gap moves to the nearer of its ends. Where `speech` is empty nothing moves.
// - Times never decrease, words never overlap, and all is within [0, seconds], the window's length.
void place_words(std::vector<Segment>& segments, std::span<const SpeechSpan> speech, double seconds);

}  // namespace verbatim::alignment

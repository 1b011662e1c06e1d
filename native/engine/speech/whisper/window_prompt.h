#pragma once

#include <span>
#include <vector>

#include "speech/decode.h"
#include "speech/whisper/hypothesis.h"
#include "speech/whisper/special_tokens.h"

namespace verbatim::whisper {

// What stands before the text of an encoder pass: [<|startofprev|> what was said before]
// <|startoftranscript|> [language task] [<|notimestamps|>].
class WindowPrompt {
 public:
  // time_stamps: false for a model that knows none; positions: of the decoder.
  WindowPrompt(const SpecialTokens& tokens, SpeechTask task, bool time_stamps, int positions,
               std::vector<TokenId> initial);

  // language: whisper.cpp's id; English-only models have no token for it.
  std::vector<TokenId> at(float temperature, int language) const;
  // Leaves out what was said before.
  void forget() { past_.clear(); }
  // What the next pass is told was said: what the last one was told at this temperature, and `text`.
  void go_on(float temperature, std::span<const DecodedToken> text);

 private:
  std::span<const TokenId> past(float temperature) const;

  SpecialTokens tokens_;
  SpeechTask task_;
  bool time_stamps_;
  std::size_t longest_past_;
  std::vector<TokenId> past_;
};

}  // namespace verbatim::whisper

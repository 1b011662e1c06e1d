#pragma once

#include <span>
#include <vector>

#include "speech/decode.h"
#include "speech/whisper/hypothesis.h"
#include "speech/whisper/special_tokens.h"

namespace verbatim::whisper {

// What stands before the text of an encoder pass: [<|startofprev|> initial prompt, what was said before]
// <|startoftranscript|> [language task] [<|notimestamps|>]. As whisper.cpp has it with carry_initial_prompt
// where there is an initial prompt, without it where there is none.
class WindowPrompt {
 public:
  // time_stamps: false for a model that knows none; positions: of the decoder; initial: text that is told to
  // every pass, however much was said since. The last positions / 2 - 1 tokens of both count, the initial
  // ones first.
  WindowPrompt(const SpecialTokens& tokens, SpeechTask task, bool time_stamps, int positions,
               const std::vector<TokenId>& initial);

  // language: whisper.cpp's id; English-only models have no token for it.
  std::vector<TokenId> at(float temperature, int language) const;
  // What stands before a text without time stamps when nothing was said before.
  std::vector<TokenId> plain(int language) const;
  // Leaves out the initial prompt and what was said before.
  void forget();
  // What the next pass is told was said: `text`, and where there is no initial prompt, before it what the
  // last pass was told at this temperature.
  void go_on(float temperature, std::span<const DecodedToken> text);

 private:
  std::vector<TokenId> before(float temperature) const;
  void add_start(std::vector<TokenId>& prompt, int language) const;

  SpecialTokens tokens_;
  SpeechTask task_;
  bool time_stamps_;
  std::size_t longest_past_;
  bool carries_initial_;
  std::vector<TokenId> initial_;
  std::vector<TokenId> past_;
};

}  // namespace verbatim::whisper

#pragma once

#include <span>
#include <vector>

#include "speech/decode.h"
#include "speech/whisper/decoding/hypothesis.h"
#include "speech/whisper/model/special_tokens.h"

namespace verbatim::whisper {

// The tokens before the text of an encoder pass: [<|startofprev|> initial prompt, earlier text] <|startoftranscript|>
// [language task] [<|notimestamps|>]. With an initial prompt it equals whisper.cpp's with carry_initial_prompt, without
// one whisper.cpp's default.
class WindowPrompt {
 public:
  // time_stamps: false for a model without them. positions: positions of the decoder. initial: text that every pass
  // gets before the earlier text. The last positions / 2 - 1 tokens of both count, the initial ones first.
  WindowPrompt(const SpecialTokens& tokens, SpeechTask task, bool time_stamps, int positions,
               const std::vector<TokenId>& initial);

  // language: whisper.cpp's id; English-only models have no token for it.
  std::vector<TokenId> at(float temperature, int language) const;
  // The prompt of a text without time stamps and without earlier text.
  std::vector<TokenId> plain(int language) const;
  // Drops the initial prompt and the earlier text.
  void clear();
  // Sets the earlier text of the next pass to `text`. Without an initial prompt, the earlier text of the last pass at
  // this temperature precedes it.
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

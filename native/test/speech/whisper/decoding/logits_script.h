#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "speech/whisper/model/special_tokens.h"

namespace verbatim::test {

// The character of a script's logits.
struct ScriptStyle {
  // Number of text tokens that are ever likely. Few of them make repeating texts.
  int pool = 2000;
  // Logits of likely tokens. Unlikely ones are between -24 and -16: whisper.cpp adds up 51,865 floats one by one, and
  // larger ones would lose precision.
  float low = 8.0f;
  float high = 14.0f;
  // How often the end of text, time stamps and tokens that are not allowed are among the likely ones, [0, 1].
  float end_of_text = 0.06f;
  float time_stamps = 0.3f;
  float banned = 0.2f;
  // How often the no-speech token is likely after the start of transcript.
  float no_speech = 0.3f;
};

// Random logits that depend on nothing but the encoder pass and the text so far. So two decodings of the same texts get
// the same logits in any order. Multiples of 1/64: near ties are ties.
class LogitsScript {
 public:
  LogitsScript(const whisper::SpecialTokens& tokens, whisper::TokenId blank, const ScriptStyle& style,
               std::uint64_t seed);

  // text: without the prompt; empty also after <|startoftranscript|> alone. out: [vocabulary].
  void fill(int pass, std::span<const whisper::TokenId> text, std::span<float> out) const;

  // These tokens' logits are the same in every row.
  std::vector<std::pair<whisper::TokenId, float>> fixed;

 private:
  class Row;
  whisper::SpecialTokens tokens_;
  whisper::TokenId blank_;
  ScriptStyle style_;
  std::uint64_t seed_;
  std::vector<float> unlikely_;
};

}  // namespace verbatim::test

#pragma once

#include <initializer_list>

#include "transformer/token_id.h"

namespace verbatim::whisper {

using transformer::TokenId;

// The ids of the tokens that are not text, as in whisper.cpp's whisper_vocab. They follow from the size of the
// vocabulary: 51864 is English only; 51865 and above is multilingual, with one more language token for each further id.
struct SpecialTokens {
  // Number of ids, [0, vocabulary).
  int vocabulary = 51864;
  bool multilingual = false;
  // Language tokens of the vocabulary. An English-only model has ids for 99 languages and was trained with none.
  int languages = 99;

  // <|endoftext|>. Ids below it are text.
  TokenId end_of_text = 50256;
  // <|startoftranscript|>. The language tokens follow it.
  TokenId start_of_transcript = 50257;
  TokenId translate = 50357;
  TokenId transcribe = 50358;
  // <|startoflm|>: marks a speaker turn in models trained for it.
  TokenId start_of_lm = 50359;
  // <|startofprev|>: the earlier text follows.
  TokenId start_of_previous = 50360;
  TokenId no_speech = 50361;
  TokenId no_time_stamps = 50362;
  // <|0.00|>. Each id above it is 20 ms later.
  TokenId first_time_stamp = 50363;

  // Token of a language by whisper.cpp's language id, 0 to languages - 1.
  constexpr TokenId language(int id) const noexcept { return start_of_transcript + 1 + id; }
  constexpr bool is_language(TokenId id) const noexcept {
    return id > start_of_transcript && id <= start_of_transcript + languages;
  }
  constexpr bool is_time_stamp(TokenId id) const noexcept { return id >= first_time_stamp; }
  constexpr bool is_text(TokenId id) const noexcept { return id >= 0 && id < end_of_text; }
};

// vocabulary: 51864 to 51866 and above.
constexpr SpecialTokens special_tokens(int vocabulary) noexcept {
  SpecialTokens ids;
  ids.vocabulary = vocabulary;
  ids.multilingual = vocabulary >= 51865;
  ids.languages = vocabulary - 51765 - (ids.multilingual ? 1 : 0);
  if (!ids.multilingual) return ids;
  ++ids.end_of_text;
  ++ids.start_of_transcript;
  const int shift = ids.languages - 98;
  for (TokenId* id : {&ids.translate, &ids.transcribe, &ids.start_of_lm, &ids.start_of_previous, &ids.no_speech,
                      &ids.no_time_stamps, &ids.first_time_stamp}) {
    *id += shift;
  }
  return ids;
}

}  // namespace verbatim::whisper

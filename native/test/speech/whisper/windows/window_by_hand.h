#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "speech/whisper/decoding/window_decoding.h"

// Feeds a WindowDecoding with chosen tokens instead of computed logits.
namespace verbatim::whisper {

inline DecodingModel model_of(int vocabulary, bool time_stamps = true) {
  DecodingModel model;
  model.tokens = special_tokens(vocabulary);
  model.blank = 220;
  model.time_stamps = time_stamps;
  model.languages = {"en", "zh", "de", "es"};
  if (!model.tokens.multilingual) model.languages.resize(1);
  return model;
}

inline const DecodingModel kModel = model_of(51865);
inline const TokenId kStart = kModel.tokens.start_of_transcript;
inline const TokenId kEnd = kModel.tokens.end_of_text;
inline const TokenId kTime = kModel.tokens.first_time_stamp;

inline DecodeOptions cold(const std::string& language) {
  DecodeOptions options;
  options.language = language;
  options.temperature_increment = 0.0f;
  return options;
}

inline constexpr std::size_t kSecond = 16000;

// Logits that make one token almost certain.
inline std::vector<float> certain(TokenId id, const DecodingModel& model = kModel) {
  std::vector<float> logits(static_cast<std::size_t>(model.tokens.vocabulary));
  logits[static_cast<std::size_t>(id)] = 30.0f;
  return logits;
}

inline void decode_all(WindowDecoding& decoding, std::vector<float> logits) {
  for (std::size_t row = 0; row < decoding.request().rows.size(); ++row) {
    std::vector<float> copy = logits;
    if (decoding.request().rows[row].wants_logits) decoding.on_logits(row, copy);
  }
}

// A step in which this token comes next, whatever was requested.
inline void decode(WindowDecoding& decoding, TokenId id, const DecodingModel& model = kModel) {
  decode_all(decoding, certain(id, model));
  decoding.advance();
}

inline std::string text_of_token(TokenId id) {
  static const std::map<TokenId, std::string> kTexts = {{10, " Hello"}, {11, " there"}, {12, "\xc3"},
                                                        {13, "\xa9"},   {14, ""},       {15, "  "}};
  const auto found = kTexts.find(id);
  return found == kTexts.end() ? "?" : found->second;
}

inline WindowResult result_of(WindowDecoding& decoding) {
  std::map<TokenId, std::string> texts;
  return decoding.result([&](TokenId id) -> std::string_view { return texts[id] = text_of_token(id); });
}

}  // namespace verbatim::whisper

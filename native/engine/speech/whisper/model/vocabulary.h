#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "speech/whisper/model/special_tokens.h"

namespace verbatim::whisper {

// The tokens of a Whisper file. Tokens that the file does not list have whisper.cpp's names. Immutable.
class Vocabulary {
 public:
  // list: the file's bytes from the number of listed tokens on, checked by check_model_file(). size: number of ids.
  // Copies what it needs.
  Vocabulary(std::span<const std::byte> list, int size);
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  const SpecialTokens& special() const noexcept { return special_; }
  // The result of whisper_token_to_str: the token's bytes up to a zero byte. They may be parts of characters. 0 <= id <
  // special().vocabulary.
  std::string_view text(TokenId id) const noexcept { return texts_[static_cast<std::size_t>(id)]; }
  // The token with exactly these bytes; the last one if there are several.
  std::optional<TokenId> find(std::string_view bytes) const;

  // The result of whisper_tokenize: GPT-2's pattern cuts the text into words, and each word is cut into the longest
  // tokens from the left. Bytes that begin no token are left out. Stops at a zero byte. Time is proportional to the
  // text's length.
  std::vector<TokenId> tokenize(std::string_view text) const;

 private:
  void add(std::size_t begin, std::size_t size);
  void add_word(std::string_view word, std::vector<TokenId>& tokens) const;

  SpecialTokens special_;
  // Every token's bytes; the views below point into it.
  std::string bytes_;
  std::vector<std::string_view> texts_;
  std::unordered_map<std::string_view, TokenId> ids_;
  std::size_t longest_ = 0;
};

}  // namespace verbatim::whisper

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "speech/whisper/special_tokens.h"

namespace verbatim::whisper {

// The tokens of a Whisper file, with the names that whisper.cpp gives to those that the file does not list.
// Immutable.
class Vocabulary {
 public:
  // list: the file's bytes from the number of listed tokens on, checked by check_model_file(); size: ids the
  // model knows. Copies what it needs.
  Vocabulary(std::span<const std::byte> list, int size);
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  const SpecialTokens& special() const noexcept { return special_; }
  // What whisper_token_to_str gives: the token's bytes, which need not be whole characters, up to a zero
  // byte. 0 <= id < special().vocabulary.
  std::string_view text(TokenId id) const noexcept { return texts_[static_cast<std::size_t>(id)]; }
  // The token of exactly these bytes; the last one if there are several.
  std::optional<TokenId> find(std::string_view bytes) const;

  // What whisper_tokenize gives: the text is cut into words by GPT-2's pattern, a word into the longest
  // tokens from the left; bytes that no token begins with are left out. Up to a zero byte. Takes time
  // proportional to the text's length, whatever it is.
  std::vector<TokenId> tokenize(std::string_view text) const;

 private:
  void add(std::size_t begin, std::size_t size);
  void add_word(std::string_view word, std::vector<TokenId>& tokens) const;

  SpecialTokens special_;
  // Every token's bytes; the views below are of it.
  std::string bytes_;
  std::vector<std::string_view> texts_;
  std::unordered_map<std::string_view, TokenId> ids_;
  std::size_t longest_ = 0;
};

}  // namespace verbatim::whisper

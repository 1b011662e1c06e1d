#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "transformer/token_id.h"

namespace verbatim::translation {

// The two file formats: a JSON array of strings (`name` is for error messages), or one token per line. Throw
// EngineError kInvalidModel.
std::vector<std::string> parse_json_tokens(std::string_view text, const std::string& name);
std::vector<std::string> parse_text_tokens(std::string_view text);

// Token strings of the source or the target. Ids are positions in the file; the unknown token is appended if the file
// lacks it. Immutable.
class Vocabulary {
 public:
  // Reads `stem`.json or, without it, `stem`.txt; empty if neither exists. Throws EngineError kInvalidModel, kIoError.
  static std::optional<Vocabulary> read(const std::filesystem::path& stem, const std::string& unk_token);
  // Whether read() finds a file.
  static bool exists(const std::filesystem::path& stem);

  Vocabulary(std::vector<std::string> tokens, const std::string& unk_token);

  std::size_t size() const noexcept { return tokens_.size(); }
  transformer::TokenId unk_id() const noexcept { return unk_id_; }
  // id < size()
  const std::string& token(transformer::TokenId id) const { return tokens_.at(static_cast<std::size_t>(id)); }
  std::optional<transformer::TokenId> find(std::string_view token) const;
  // The id of the token, or of the unknown token.
  transformer::TokenId id(std::string_view token) const { return find(token).value_or(unk_id_); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  std::vector<std::string> tokens_;
  // A duplicate token has its first id.
  std::unordered_map<std::string, transformer::TokenId, Hash, std::equal_to<>> ids_;
  transformer::TokenId unk_id_ = 0;
};

}  // namespace verbatim::translation

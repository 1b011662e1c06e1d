#pragma once

#include <optional>
#include <string>
#include <vector>

#include "translation/ct2/config.h"
#include "translation/ct2/vocabulary.h"

namespace verbatim::translation {

// Both vocabularies of a model and the rules for special tokens.
class TokenCodec {
 public:
  // Reads the vocabularies of a model directory. Throws EngineError kInvalidModel, kIoError.
  TokenCodec(const std::filesystem::path& directory, Ct2Config config);

  const Ct2Config& config() const noexcept { return config_; }
  const Vocabulary& source() const noexcept { return source_; }
  const Vocabulary& target() const noexcept { return target_ ? *target_ : source_; }

  // Converts source tokens to ids and adds special tokens. Cut to max_length (0 = no limit); the end token and a
  // language code behind it are kept.
  std::vector<transformer::TokenId> encode_source(const std::vector<std::string>& tokens, std::size_t max_length) const;
  // True if there are only special tokens; such a source is not decoded.
  bool is_empty(const std::vector<transformer::TokenId>& source) const;
  // Start token, then the prefix. Throws EngineError kInvalidArgument if the model has no start token and the prefix is
  // empty.
  std::vector<transformer::TokenId> encode_prefix(const std::vector<std::string>& prefix) const;
  // The token that ends a hypothesis.
  transformer::TokenId end_id() const { return target().id(config_.eos_token); }

 private:
  Ct2Config config_;
  Vocabulary source_;
  // Empty: source and target share one vocabulary.
  std::optional<Vocabulary> target_;
};

}  // namespace verbatim::translation

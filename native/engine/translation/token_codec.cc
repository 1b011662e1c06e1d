#include "translation/token_codec.h"

#include "error.h"

namespace verbatim::translation {
namespace {

Vocabulary read_source(const std::filesystem::path& directory, const std::string& unk_token) {
  for (const char* name : {"shared_vocabulary", "source_vocabulary"}) {
    if (auto vocabulary = Vocabulary::read(directory / name, unk_token)) return std::move(*vocabulary);
  }
  if (Vocabulary::exists(directory / "source_1_vocabulary")) {
    throw EngineError(ErrorCode::kInvalidModel, "source features (source_1_vocabulary) are not supported");
  }
  throw EngineError(ErrorCode::kInvalidModel,
                    directory.string() + " has neither shared_vocabulary nor source_vocabulary (.json or .txt)");
}

std::optional<Vocabulary> read_target(const std::filesystem::path& directory, const std::string& unk_token) {
  if (Vocabulary::exists(directory / "shared_vocabulary")) return std::nullopt;
  auto vocabulary = Vocabulary::read(directory / "target_vocabulary", unk_token);
  if (!vocabulary) {
    throw EngineError(ErrorCode::kInvalidModel, directory.string() + " has no target_vocabulary (.json or .txt)");
  }
  return vocabulary;
}

}  // namespace

TokenCodec::TokenCodec(const std::filesystem::path& directory, Ct2Config config)
    : config_(std::move(config)),
      source_(read_source(directory, config_.unk_token)),
      target_(read_target(directory, config_.unk_token)) {
  if (!target().find(config_.eos_token)) {
    throw EngineError(ErrorCode::kInvalidModel, "the target vocabulary lacks the end token " + config_.eos_token);
  }
}

std::vector<transformer::TokenId> TokenCodec::encode_source(const std::vector<std::string>& tokens,
                                                            std::size_t max_length) const {
  std::vector<transformer::TokenId> ids;
  ids.reserve(tokens.size() + 2);
  if (config_.add_source_bos) ids.push_back(source_.id(config_.bos_token));
  for (const std::string& token : tokens) ids.push_back(source_.id(token));
  if (config_.add_source_eos) ids.push_back(source_.id(config_.eos_token));
  if (max_length == 0 || ids.size() <= max_length) return ids;
  const transformer::TokenId eos = source_.id(config_.eos_token);
  const transformer::TokenId last = ids.back();
  const transformer::TokenId before_last = ids[ids.size() - 2];
  ids.resize(max_length);
  if (last == eos) {
    ids.back() = eos;
  } else if (before_last == eos) {
    ids.back() = last;
    if (ids.size() >= 2) ids[ids.size() - 2] = eos;
  }
  return ids;
}

bool TokenCodec::is_empty(const std::vector<transformer::TokenId>& source) const {
  const transformer::TokenId eos = source_.id(config_.eos_token);
  std::size_t length = source.size();
  if (length > 0 && source.front() == source_.id(config_.bos_token)) --length;
  if (length > 0 && source.back() == eos) {
    --length;
  } else if (length > 1 && source[source.size() - 2] == eos) {
    length -= 2;
  }
  return length == 0;
}

std::vector<transformer::TokenId> TokenCodec::encode_prefix(const std::vector<std::string>& prefix) const {
  std::vector<transformer::TokenId> ids;
  if (config_.decoder_start_token) ids.push_back(target().id(*config_.decoder_start_token));
  for (const std::string& token : prefix) ids.push_back(target().id(token));
  if (ids.empty()) {
    throw EngineError(ErrorCode::kInvalidArgument,
                      "this model has no start token: every input needs a target prefix (its language token)");
  }
  return ids;
}

}  // namespace verbatim::translation

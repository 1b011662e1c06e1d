#include "translation/ct2/vocabulary.h"

#include <algorithm>

#include "error.h"
#include "mapped_file.h"
#include "translation/files/json_file.h"

namespace verbatim::translation {
std::vector<std::string> parse_json_tokens(std::string_view text, const std::string& name) {
  const nlohmann::json document = parse_json(text, name);
  if (!document.is_array()) throw EngineError(ErrorCode::kInvalidModel, name + " must be an array of strings");
  std::vector<std::string> tokens;
  tokens.reserve(document.size() + 1);
  for (const auto& entry : document) {
    if (!entry.is_string()) {
      throw EngineError(ErrorCode::kInvalidModel,
                        name + ": entry " + std::to_string(tokens.size()) + " is not a string");
    }
    tokens.push_back(entry.get<std::string>());
  }
  return tokens;
}

// A CR at the end of every line belongs to the line ends; at the end of some lines only, to the tokens.
std::vector<std::string> parse_text_tokens(std::string_view text) {
  std::vector<std::string> tokens;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    tokens.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (std::ranges::all_of(tokens, [](const std::string& token) { return token.ends_with('\r'); })) {
    for (auto& token : tokens) token.pop_back();
  }
  return tokens;
}

namespace {

std::filesystem::path with_suffix(std::filesystem::path path, const char* suffix) { return path += suffix; }

}  // namespace

std::optional<Vocabulary> Vocabulary::read(const std::filesystem::path& stem, const std::string& unk_token) {
  for (const bool is_json : {true, false}) {
    const auto path = with_suffix(stem, is_json ? ".json" : ".txt");
    if (!std::filesystem::exists(path)) continue;
    const MappedFile file(path);
    const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    auto tokens = is_json ? parse_json_tokens(text, path.string()) : parse_text_tokens(text);
    if (tokens.empty()) throw EngineError(ErrorCode::kInvalidModel, path.string() + " has no tokens");
    return Vocabulary(std::move(tokens), unk_token);
  }
  return std::nullopt;
}

bool Vocabulary::exists(const std::filesystem::path& stem) {
  return std::filesystem::exists(with_suffix(stem, ".json")) || std::filesystem::exists(with_suffix(stem, ".txt"));
}

Vocabulary::Vocabulary(std::vector<std::string> tokens, const std::string& unk_token) : tokens_(std::move(tokens)) {
  ids_.reserve(tokens_.size() + 1);
  for (std::size_t i = 0; i < tokens_.size(); ++i) ids_.try_emplace(tokens_[i], static_cast<transformer::TokenId>(i));
  const auto [unk, appended] = ids_.try_emplace(unk_token, static_cast<transformer::TokenId>(tokens_.size()));
  if (appended) tokens_.push_back(unk_token);
  unk_id_ = unk->second;
}

std::optional<transformer::TokenId> Vocabulary::find(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace verbatim::translation

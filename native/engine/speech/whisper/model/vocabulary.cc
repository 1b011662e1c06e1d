#include "speech/whisper/model/vocabulary.h"

#include <whisper.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "load_unaligned.h"
#include "speech/whisper/model/word_splitter.h"

namespace verbatim::whisper {
namespace {

// Names of special tokens as whisper_model_load makes them.
std::string name_of(TokenId id, const SpecialTokens& special) {
  if (id > special.first_time_stamp) return "[_TT_" + std::to_string(id - special.first_time_stamp) + "]";
  const std::pair<TokenId, const char*> kNames[] = {
      {special.end_of_text, "[_EOT_]"},      {special.start_of_transcript, "[_SOT_]"},
      {special.translate, "[_TRANSLATE_]"},  {special.transcribe, "[_TRANSCRIBE_]"},
      {special.start_of_lm, "[_SOLM_]"},     {special.start_of_previous, "[_PREV_]"},
      {special.no_speech, "[_NOSP_]"},       {special.no_time_stamps, "[_NOT_]"},
      {special.first_time_stamp, "[_BEG_]"},
  };
  for (const auto& [known, name] : kNames) {
    if (id == known) return name;
  }
  if (special.is_language(id)) {
    return "[_LANG_" + std::string(whisper_lang_str(id - special.language(0))) + "]";
  }
  return "[_extra_token_" + std::to_string(id) + "]";
}

}  // namespace

Vocabulary::Vocabulary(std::span<const std::byte> list, int size) : special_(special_tokens(size)) {
  const auto listed = load_unaligned<std::int32_t>(list.data());
  std::vector<std::pair<std::size_t, std::size_t>> places;
  std::size_t at = sizeof(listed);
  for (std::int32_t id = 0; id < listed; ++id) {
    const auto length = load_unaligned<std::uint32_t>(list.data() + at);
    at += sizeof(length);
    places.emplace_back(bytes_.size(), length);
    bytes_.append(reinterpret_cast<const char*>(list.data() + at), length);
    at += length;
  }
  for (TokenId id = listed; id < size; ++id) {
    const std::string name = name_of(id, special_);
    places.emplace_back(bytes_.size(), name.size());
    bytes_ += name;
  }
  texts_.reserve(places.size());
  ids_.reserve(places.size());
  for (const auto& [begin, length] : places) add(begin, length);
}

void Vocabulary::add(std::size_t begin, std::size_t size) {
  const std::string_view token = std::string_view(bytes_).substr(begin, size);
  ids_[token] = static_cast<TokenId>(texts_.size());
  texts_.push_back(token.substr(0, token.find('\0')));
  longest_ = std::max(longest_, size);
}

std::optional<TokenId> Vocabulary::find(std::string_view bytes) const {
  const auto found = ids_.find(bytes);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<TokenId> Vocabulary::tokenize(std::string_view text) const {
  std::vector<TokenId> tokens;
  text = text.substr(0, text.find('\0'));
  while (!text.empty()) {
    const std::size_t length = first_word(text);
    add_word(text.substr(0, length), tokens);
    text.remove_prefix(length);
  }
  return tokens;
}

void Vocabulary::add_word(std::string_view word, std::vector<TokenId>& tokens) const {
  while (!word.empty()) {
    std::size_t length = std::min(word.size(), longest_);
    std::optional<TokenId> id;
    while (length > 0 && !(id = find(word.substr(0, length)))) --length;
    if (id) tokens.push_back(*id);
    word.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

}  // namespace verbatim::whisper

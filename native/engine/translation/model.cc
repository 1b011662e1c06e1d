#include "translation/model.h"

#include "error.h"
#include "thread_count.h"
#include "translation/model_files.h"

namespace verbatim::translation {

TranslationModel::TranslationModel(const std::filesystem::path& directory)
    : files_(std::make_unique<const ModelFiles>(directory)) {
  const TokenCodec& codec = files_->codec;
  const Ct2Config& config = codec.config();
  info_.source_vocabulary = codec.source().size();
  info_.target_vocabulary = codec.target().size();
  info_.unk_token = config.unk_token;
  info_.bos_token = config.bos_token;
  info_.eos_token = config.eos_token;
  info_.decoder_start_token = config.decoder_start_token;
  info_.add_source_bos = config.add_source_bos;
  info_.add_source_eos = config.add_source_eos;
  info_.max_source_tokens = files_->source_positions();
  info_.max_target_tokens = files_->target_positions();
  load_tokenizers(directory);
}

TranslationModel::~TranslationModel() = default;

bool TranslationModel::has_source_token(std::string_view token) const {
  return files_->codec.source().find(token).has_value();
}

bool TranslationModel::has_target_token(std::string_view token) const {
  return files_->codec.target().find(token).has_value();
}

void TranslationModel::load_tokenizers(const std::filesystem::path& directory) {
  const TokenizerFiles files = TokenizerFiles::find(directory);
  info_.has_tokenizer = files.source && files.target;
  if (info_.has_tokenizer) {
    source_tokenizer_.emplace(*files.source);
    target_tokenizer_.emplace(*files.target);
  }
  // Only models from Hugging Face start with the end token or a language token.
  info_.wants_source_eos =
      !info_.add_source_eos && (!info_.decoder_start_token || *info_.decoder_start_token == info_.eos_token);
}

std::unique_ptr<Translator> TranslationModel::create_translator(int threads) const {
  require_thread_count(threads);
  return make_translator(threads);
}

std::vector<std::string> TranslationModel::tokenize(std::string_view text) const {
  if (!source_tokenizer_) throw EngineError(ErrorCode::kInvalidArgument, "the translation model has no tokenizer");
  return source_tokenizer_->encode(text);
}

std::string TranslationModel::detokenize(const std::vector<std::string>& tokens) const {
  if (!target_tokenizer_) throw EngineError(ErrorCode::kInvalidArgument, "the translation model has no tokenizer");
  return target_tokenizer_->decode(tokens);
}

}  // namespace verbatim::translation

#include "translation/model.h"

#include "error.h"
#include "translation/ct2_backend.h"
#include "translation/ggml_model.h"

namespace verbatim::translation {

std::vector<std::string> TranslationModel::backends() {
  std::vector<std::string> names{"ggml"};
  if (has_ct2_backend()) names.emplace_back("ctranslate2");
  return names;
}

std::shared_ptr<const TranslationModel> TranslationModel::load(const std::filesystem::path& directory,
                                                               const TranslationModelOptions& options) {
  const std::string& backend = options.backend;
  if (backend == "ggml") return load_ggml_model(directory, options);
  if (backend == "ctranslate2" || (backend == "auto" && has_ct2_backend()))
    return load_ct2_model(directory, options);
  if (backend == "auto") return load_ggml_model(directory, options);
  throw EngineError(ErrorCode::kInvalidArgument, "translation backend \"" + backend +
                                                     "\" is unknown; auto, ggml and ctranslate2 are allowed");
}

void TranslationModel::load_tokenizers(const std::filesystem::path& directory) {
  const TokenizerFiles files = TokenizerFiles::find(directory);
  info_.has_tokenizer = files.source && files.target;
  if (info_.has_tokenizer) {
    source_tokenizer_.emplace(*files.source);
    target_tokenizer_.emplace(*files.target);
  }
  // Only models from Hugging Face start with the end token or with a language token.
  info_.wants_source_eos =
      !info_.add_source_eos && (!info_.decoder_start_token || *info_.decoder_start_token == info_.eos_token);
}

std::vector<std::string> TranslationModel::tokenize(std::string_view text) const {
  if (!source_tokenizer_)
    throw EngineError(ErrorCode::kInvalidArgument, "the translation model has no tokenizer");
  return source_tokenizer_->encode(text);
}

std::string TranslationModel::detokenize(const std::vector<std::string>& tokens) const {
  if (!target_tokenizer_)
    throw EngineError(ErrorCode::kInvalidArgument, "the translation model has no tokenizer");
  return target_tokenizer_->decode(tokens);
}

}  // namespace verbatim::translation

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "translation/tokenizer.h"
#include "translation/translator.h"

namespace verbatim::translation {

struct TranslationModelOptions {
  // "cpu" or "cuda:N".
  std::string device = "cpu";
  // Type of computation: "float32", "bfloat16", "int8", on GPUs "float16", or "auto" (the file's own type; on the CPU
  // float32 for float16).
  std::string compute_type = "auto";
  // "ggml", "ctranslate2", or "auto": ggml, which is faster.
  std::string backend = "auto";
};

struct TranslationModelInfo {
  // "ggml" or "ctranslate2".
  std::string backend;
  // "cpu" or "cuda:N".
  std::string device;
  // Type of computation.
  std::string compute_type;
  // Bytes of weights.
  std::uint64_t memory_bytes = 0;
  std::size_t source_vocabulary = 0;
  std::size_t target_vocabulary = 0;
  std::string unk_token;
  std::string bos_token;
  std::string eos_token;
  // Empty: the first token of each target prefix starts the decoder.
  std::optional<std::string> decoder_start_token;
  // The model itself adds these to every source.
  bool add_source_bos = false;
  bool add_source_eos = false;
  // The caller must append the end token to every source. True for models converted from Hugging Face, whose tokenizers
  // append it.
  bool wants_source_eos = false;
  // Whether SentencePiece models are in the model's directory.
  bool has_tokenizer = false;
  // Positions of the weights, special tokens included: the longest source and the longest translation. 0 = no limit.
  std::size_t max_source_tokens = 0;
  std::size_t max_target_tokens = 0;
};

struct ModelFiles;

// A CTranslate2 model directory, loaded once (backends/load.h) and shared by its translators. Immutable.
class TranslationModel {
 public:
  virtual ~TranslationModel();

  const TranslationModelInfo& info() const noexcept { return info_; }

  // Whether a vocabulary contains the token, such as ">>es<<" or "spa_Latn".
  bool has_source_token(std::string_view token) const;
  bool has_target_token(std::string_view token) const;

  // Text <-> SentencePiece tokens. The caller handles special and language tokens. Throws EngineError kInvalidArgument
  // when has_tokenizer is false.
  std::vector<std::string> tokenize(std::string_view text) const;
  std::string detokenize(const std::vector<std::string>& tokens) const;

  // threads: CPU threads of this translator, >= 1. On a busy machine several translators of one thread do more than one
  // of several threads, which wait for each other about a hundred times per token. The translator keeps the model
  // alive. Throws EngineError kInvalidArgument, kOutOfMemory.
  std::unique_ptr<Translator> create_translator(int threads) const;

 protected:
  // Reads everything but the weights and sets the members of info_ about tokens and positions; the backend sets the
  // others. Throws EngineError: kInvalidModel, kIoError.
  explicit TranslationModel(const std::filesystem::path& directory);

  virtual std::unique_ptr<Translator> make_translator(int threads) const = 0;

  const ModelFiles& files() const noexcept { return *files_; }

  TranslationModelInfo info_;

 private:
  void load_tokenizers(const std::filesystem::path& directory);

  std::unique_ptr<const ModelFiles> files_;
  std::optional<Tokenizer> source_tokenizer_;
  std::optional<Tokenizer> target_tokenizer_;
};

}  // namespace verbatim::translation

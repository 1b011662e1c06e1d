#include "translation/tokenizer.h"

#include <sentencepiece_processor.h>

#include "error.h"
#include "mapped_file.h"

namespace verbatim::translation {
namespace {

std::optional<std::filesystem::path> first_of(const std::filesystem::path& directory,
                                              std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::filesystem::is_regular_file(directory / name)) return directory / name;
  }
  return std::nullopt;
}

}  // namespace

Tokenizer::Tokenizer(const std::filesystem::path& path)
    : processor_(std::make_unique<sentencepiece::SentencePieceProcessor>()) {
  const MappedFile file(path);
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const auto status = processor_->LoadFromSerializedProto(bytes);
  if (!status.ok()) {
    throw EngineError(ErrorCode::kInvalidModel,
                      path.string() + " is not a SentencePiece model: " + std::string(status.message()));
  }
}

Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;

std::vector<std::string> Tokenizer::encode(std::string_view text) const {
  std::vector<std::string> pieces;
  const auto status = processor_->Encode(text, &pieces);
  if (!status.ok()) throw EngineError(ErrorCode::kInternalError, "SentencePiece: " + std::string(status.message()));
  return pieces;
}

std::string Tokenizer::decode(const std::vector<std::string>& pieces) const {
  std::string text;
  const auto status = processor_->Decode(pieces, &text);
  if (!status.ok()) throw EngineError(ErrorCode::kInternalError, "SentencePiece: " + std::string(status.message()));
  return text;
}

TokenizerFiles TokenizerFiles::find(const std::filesystem::path& directory) {
  TokenizerFiles files;
  files.source = first_of(directory, {"source.spm"});
  files.target = first_of(directory, {"target.spm"});
  auto shared = first_of(directory, {"sentencepiece.model", "sentencepiece.bpe.model", "spm.model", "spm.128k.model",
                                     "flores200_sacrebleu_tokenizer_spm.model", "tokenizer.model"});
  if (!shared) shared = first_of(directory / "..", {"sentencepiece.model"});
  if (!files.source) files.source = shared;
  if (!files.target) files.target = shared ? shared : files.source;
  return files;
}

}  // namespace verbatim::translation

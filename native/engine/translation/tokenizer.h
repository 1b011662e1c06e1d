#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace verbatim::translation {

// A SentencePiece model. Immutable, safe to use from many threads.
class Tokenizer {
 public:
  // Throws EngineError: kIoError, kInvalidModel.
  explicit Tokenizer(const std::filesystem::path& path);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;

  // Text -> pieces. Throws EngineError kInternalError.
  std::vector<std::string> encode(std::string_view text) const;
  // Pieces -> text.
  std::string decode(const std::vector<std::string>& pieces) const;

 private:
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
};

// The tokenizers of a model directory, by the file names of converters and packages: source.spm and target.spm, or one
// model for both sides in the directory or (Argos packages) its parent.
struct TokenizerFiles {
  std::optional<std::filesystem::path> source;
  std::optional<std::filesystem::path> target;

  static TokenizerFiles find(const std::filesystem::path& directory);
};

}  // namespace verbatim::translation

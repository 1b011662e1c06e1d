#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "transformer/transformer.h"
#include "translation/ct2/file.h"
#include "translation/options.h"
#include "translation/token_codec.h"
#include "translation/translator.h"

namespace verbatim::translation {

// A model directory, read and checked. All backends share it, so that an invalid file gets the same message and tokens
// get the same ids. The weights stay in the mapped file.
struct ModelFiles {
  // Throws EngineError: kInvalidModel, kIoError.
  explicit ModelFiles(const std::filesystem::path& directory);
  ModelFiles(const ModelFiles&) = delete;
  ModelFiles& operator=(const ModelFiles&) = delete;

  // Positions of the weights; 0 = no limit.
  std::size_t source_positions() const noexcept { return transformer.encoder.positions.rows; }
  std::size_t target_positions() const noexcept { return transformer.decoder.positions.rows; }

  // The ids of input `index` of a call, with special tokens. Throws EngineError kInvalidArgument for more ids than
  // positions.
  std::vector<transformer::TokenId> encode_source(const TranslationInput& input, std::size_t index,
                                                  const TranslationOptions& options) const;

  Ct2File file;
  TokenCodec codec;
  transformer::Transformer transformer;
};

}  // namespace verbatim::translation

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

// A model directory, read and checked: whichever backend computes with it, a wrong file is refused in the
// same words and tokens become the same ids. The weights stay in the mapped file.
struct ModelFiles {
  // Throws EngineError: kInvalidModel, kIoError.
  explicit ModelFiles(const std::filesystem::path& directory);
  ModelFiles(const ModelFiles&) = delete;
  ModelFiles& operator=(const ModelFiles&) = delete;

  // Positions that the weights have, 0 = no limit.
  std::size_t source_positions() const noexcept { return transformer.encoder.positions.rows; }
  std::size_t target_positions() const noexcept { return transformer.decoder.positions.rows; }

  // The ids of input `index` of a call, special tokens included. Throws EngineError kInvalidArgument for more
  // than the positions take.
  std::vector<transformer::TokenId> encode_source(const TranslationInput& input, std::size_t index,
                                                  const TranslationOptions& options) const;

  Ct2File file;
  TokenCodec codec;
  transformer::Transformer transformer;
};

}  // namespace verbatim::translation

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "translation/ct2/file.h"

namespace verbatim::translation {

// Settings of tokens and arithmetic from config.json (binary version 6) or from attributes in model.bin (older
// versions).
struct Ct2Config {
  std::string unk_token = "<unk>";
  std::string bos_token = "<s>";
  std::string eos_token = "</s>";
  // Absent: the first token of the target prefix starts the decoder (mBART).
  std::optional<std::string> decoder_start_token = "<s>";
  bool add_source_bos = false;
  bool add_source_eos = false;
  // Absent: 1e-5.
  std::optional<float> layer_norm_epsilon;

  // Overwrites `base` with the values in the text of a config.json. with_tokens: with the tokens too, which are
  // elsewhere before binary version 6. Throws EngineError kInvalidModel.
  static Ct2Config parse(std::string_view text, Ct2Config base, bool with_tokens);

  // Throws EngineError kInvalidModel for a value of the wrong type, for a missing config.json that the binary version
  // needs, and for an unsupported setting.
  static Ct2Config read(const std::filesystem::path& directory, const Ct2File& file);
};

}  // namespace verbatim::translation

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transformer/weight_cache_report.h"

namespace verbatim {

struct DeviceInfo;
struct ModelFileInfo;

// What a model supports.
struct SpeechAbilities {
  // Detects which of its languages is spoken, so that the language may be "auto".
  bool detects_language = true;
  // Accepts Whisper's translate task, trained for it or not.
  bool translates = true;
  // Accepts an initial prompt.
  bool takes_prompt = true;
  // Decodes at temperatures above 0.
  bool takes_temperature = true;
  // Accepts a prefix (DecodeOptions::prefix).
  bool takes_prefix = false;
  // Decodes the times of words with the text: DecodeOptions::align costs nothing.
  bool times_words = false;
};

struct SpeechModelInfo {
  // "whisper" or "parakeet".
  std::string family = "whisper";
  SpeechAbilities abilities;
  // "tiny", "base", ..., "parakeet-tdt-0.6b", or "custom" for an unpublished shape.
  std::string type;
  // "f16", "q8_0", "q5_1", ...
  std::string weight_type;
  bool multilingual = false;
  // ISO 639-1 codes in whisper.cpp's spelling; empty where the file does not list them.
  std::vector<std::string> languages;
  // "cpu" or "cuda:N"
  std::string device;
  std::string device_name;
  // Bytes of weights, including the packed copies that the accelerator makes of the encoder's.
  std::uint64_t memory_bytes = 0;
  // accelerator::name() of what computes the encoder's large products; "" without an accelerator.
  std::string accelerator;
  // Of load_recogniser() with a cache of weights.
  std::optional<transformer::WeightCacheReport> weight_cache;
};

// Describes the file's model on that device, without an accelerator.
SpeechModelInfo describe_model(const ModelFileInfo& file, const DeviceInfo& device);

}  // namespace verbatim

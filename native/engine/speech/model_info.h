#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace verbatim {

struct DeviceInfo;
struct ModelFileInfo;

// What a model can be asked for.
struct SpeechAbilities {
  // Tells which of its languages is spoken, so that the language may be "auto".
  bool detects_language = true;
  // Knows Whisper's translate task, whether it was trained for it or not.
  bool translates = true;
  // Takes an initial prompt.
  bool takes_prompt = true;
  // Decodes at temperatures above 0.
  bool takes_temperature = true;
};

struct SpeechModelInfo {
  // "whisper" or "parakeet".
  std::string family = "whisper";
  SpeechAbilities abilities;
  // "tiny", "base", ..., "parakeet-tdt-0.6b", or "custom" for a shape that nobody published.
  std::string type;
  // "f16", "q8_0", "q5_1", ...
  std::string weight_type;
  bool multilingual = false;
  // ISO 639-1 codes (whisper.cpp's spelling); none where the file does not say.
  std::vector<std::string> languages;
  // "cpu" or "cuda:N"
  std::string device;
  std::string device_name;
  // Bytes of weights, the packed copies that the accelerator will make of the encoder's included.
  std::uint64_t memory_bytes = 0;
  // What computes the encoder's large products: accelerator::name(), or "" where no accelerator does.
  std::string accelerator;
};

// What the file says of itself, on that device, without an accelerator.
SpeechModelInfo describe_model(const ModelFileInfo& file, const DeviceInfo& device);

}  // namespace verbatim

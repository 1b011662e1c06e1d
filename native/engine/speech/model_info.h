#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace verbatim {

struct DeviceInfo;
struct ModelFileInfo;

struct SpeechModelInfo {
  // "tiny", "base", ..., or "custom" for a shape that OpenAI never published.
  std::string type;
  // "f16", "q8_0", "q5_1", ...
  std::string weight_type;
  bool multilingual = false;
  // ISO 639-1 codes (whisper.cpp's spelling).
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

#pragma once

#include <filesystem>
#include <vector>

#include "audio/reader.h"
#include "handle.h"

namespace verbatim::addon {

// An open file whose samples are read in JavaScript; one call at a time.
struct OpenSamples {
  // Reads headers only. Throws EngineError as AudioReader does.
  explicit OpenSamples(const std::filesystem::path& path) : reader(path) {}

  AudioReader reader;
  bool busy = false;
};

// SampleReader of the contract.
class SampleReaderWrap : public Handle<SampleReaderWrap, OpenSamples> {
 public:
  static constexpr const char* kName = "SampleReader";
  static constexpr napi_type_tag kTag = {0x8d1f3a5c40b94e27, 0x9e62c7d10b3f48a5};
  static constexpr auto kConstructor = &AddonData::sample_reader;
  static std::vector<PropertyDescriptor> members();

  explicit SampleReaderWrap(const Napi::CallbackInfo& info) : Handle(info) {}

  // openSamples(path): Promise<SampleReader>
  static Napi::Value open(const Napi::CallbackInfo& info);

 private:
  Napi::Value read(const Napi::CallbackInfo& info);
};

}  // namespace verbatim::addon

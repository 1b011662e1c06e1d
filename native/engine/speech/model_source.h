#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "device.h"

namespace verbatim {

// Throws EngineError kIoError.
std::ifstream open_model_file(const std::filesystem::path& path);

// whisper.cpp ends the process when the weights' allocation is refused, so the free memory is checked first. On a CPU
// all memory counts as free, since the system overcommits. Throws EngineError kOutOfMemory.
void check_room(const DeviceInfo& device, std::uint64_t needed);

// A loader through which whisper.cpp reads a model of either family from the stream's start. The stream must outlive
// it. Loader: whisper_model_loader or parakeet_model_loader.
template <typename Loader>
Loader loader_of(std::ifstream& stream) {
  stream.clear();
  stream.seekg(0);
  Loader loader{};
  loader.context = &stream;
  loader.read = [](void* context, void* target, std::size_t size) {
    auto& source = *static_cast<std::ifstream*>(context);
    source.read(static_cast<char*>(target), static_cast<std::streamsize>(size));
    return static_cast<std::size_t>(source.gcount());
  };
  loader.eof = [](void* context) { return static_cast<std::ifstream*>(context)->eof(); };
  loader.close = [](void* /*context*/) {};
  return loader;
}

}  // namespace verbatim

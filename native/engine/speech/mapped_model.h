#pragma once

#include <filesystem>
#include <istream>

#include "error.h"
#include "mapped_file.h"
#include "speech/byte_buffer.h"
#include "speech/model_file.h"

namespace verbatim {

// Throws EngineError kIoError.
inline MappedFile map_model(const std::filesystem::path& path) {
  require_model_file(path);
  return MappedFile(path);
}

// Returns check(stream) over the mapped file. An EngineError that it throws gets the file's name.
template <typename Check>
auto check_mapped_model(const MappedFile& file, const std::filesystem::path& path, const Check& check) {
  try {
    ByteBuffer buffer(file.bytes());
    std::istream stream(&buffer);
    return check(stream);
  } catch (const EngineError& error) {
    throw EngineError(error.code(), path.filename().string() + ": " + error.what());
  }
}

}  // namespace verbatim

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

// What check(stream) finds in the mapped file; of its EngineErrors each names the file.
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

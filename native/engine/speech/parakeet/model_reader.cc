#include "speech/parakeet/model_reader.h"

#include <istream>

#include "error.h"
#include "speech/byte_buffer.h"
#include "speech/model_file.h"

namespace verbatim::parakeet {
namespace {

MappedFile map_model(const std::filesystem::path& path) {
  require_model_file(path);
  return MappedFile(path);
}

ModelFileInfo check(const MappedFile& file, const std::filesystem::path& path) {
  try {
    ByteBuffer buffer(file.bytes());
    std::istream stream(&buffer);
    return check_model_file(stream);
  } catch (const EngineError& error) {
    throw EngineError(error.code(), path.filename().string() + ": " + error.what());
  }
}

}  // namespace

ModelReader::ModelReader(const std::filesystem::path& path)
    : file_(map_model(path)), info_(check(file_, path)) {
  prepare_conversions();
}

StoredMatrix ModelReader::matrix(const std::string& name) const {
  return StoredMatrix::of(info_.tensors.at(name), file_.bytes());
}

}  // namespace verbatim::parakeet

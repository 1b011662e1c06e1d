#include "speech/whisper/model_reader.h"

#include <istream>

#include "error.h"
#include "speech/byte_buffer.h"

namespace verbatim::whisper {
namespace {

MappedFile map_model(const std::filesystem::path& path) {
  require_model_file(path);
  return MappedFile(path);
}

ModelFileInfo check(const MappedFile& file, const std::filesystem::path& path) {
  try {
    ByteBuffer buffer(file.bytes());
    std::istream stream(&buffer);
    return check_model_file(stream, Float32Files::kAccepted);
  } catch (const EngineError& error) {
    throw EngineError(error.code(), path.filename().string() + ": " + error.what());
  }
}

}  // namespace

ModelReader::ModelReader(const std::filesystem::path& path)
    : file_(map_model(path)), info_(check(file_, path)) {
  prepare_conversions();
}

std::span<const std::byte> ModelReader::vocabulary() const {
  return file_.bytes().subspan(info_.vocabulary_offset);
}

StoredMatrix ModelReader::matrix(const std::string& name) const {
  return StoredMatrix::of(info_.tensors.at(name), file_.bytes());
}

std::vector<float> ModelReader::values(const std::string& name) const { return matrix(name).values(); }

}  // namespace verbatim::whisper

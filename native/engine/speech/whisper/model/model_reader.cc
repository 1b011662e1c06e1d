#include "speech/whisper/model/model_reader.h"

#include <istream>

#include "speech/mapped_model.h"

namespace verbatim::whisper {
ModelReader::ModelReader(const std::filesystem::path& path)
    : file_(map_model(path)), info_(check_mapped_model(file_, path, [](std::istream& stream) {
        return check_model_file(stream, Float32Files::kAccepted);
      })) {
  prepare_conversions();
}

std::span<const std::byte> ModelReader::vocabulary() const { return file_.bytes().subspan(info_.vocabulary_offset); }

StoredMatrix ModelReader::matrix(const std::string& name) const {
  return StoredMatrix::of(info_.tensors.at(name), file_.bytes());
}

std::vector<float> ModelReader::values(const std::string& name) const { return matrix(name).values(); }

}  // namespace verbatim::whisper

#include "speech/parakeet/model_reader.h"

#include <istream>

#include "speech/mapped_model.h"

namespace verbatim::parakeet {
ModelReader::ModelReader(const std::filesystem::path& path)
    : file_(map_model(path)),
      info_(check_mapped_model(file_, path, [](std::istream& stream) { return check_model_file(stream); })) {
  prepare_conversions();
}

StoredMatrix ModelReader::matrix(const std::string& name) const {
  return StoredMatrix::of(info_.tensors.at(name), file_.bytes());
}

}  // namespace verbatim::parakeet

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "mapped_file.h"
#include "speech/parakeet/model_file.h"
#include "speech/stored_matrix.h"

namespace verbatim::parakeet {

// A Parakeet file with weights of any type, mapped and checked.
class ModelReader {
 public:
  // Throws EngineError kIoError, kInvalidModel with the file's name.
  explicit ModelReader(const std::filesystem::path& path);

  const ModelFileInfo& info() const noexcept { return info_; }
  // A tensor of the model; a vector is a matrix of one row. A view of the file.
  StoredMatrix matrix(const std::string& name) const;
  // All values of a tensor.
  std::vector<float> values(const std::string& name) const { return matrix(name).values(); }

  // Gives the pages read so far back to the system; a later read loads them again.
  void drop_pages() const noexcept { file_.drop_pages(); }

 private:
  MappedFile file_;
  ModelFileInfo info_;
};

}  // namespace verbatim::parakeet

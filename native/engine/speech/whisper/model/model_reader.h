#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "mapped_file.h"
#include "speech/model_file.h"
#include "speech/stored_matrix.h"

namespace verbatim::whisper {

// A Whisper file with weights of any type, float32 included, mapped and checked.
class ModelReader {
 public:
  // Throws EngineError kIoError, kInvalidModel with the file's name.
  explicit ModelReader(const std::filesystem::path& path);

  const ModelFileInfo& info() const noexcept { return info_; }
  const MappedFile& file() const noexcept { return file_; }
  // [mels][201].
  const std::vector<float>& mel_filters() const noexcept { return info_.mel_filters; }
  // The input of Vocabulary.
  std::span<const std::byte> vocabulary() const;

  // A tensor of the model; a vector is a matrix of one row.
  StoredMatrix matrix(const std::string& name) const;
  // All values of a tensor.
  std::vector<float> values(const std::string& name) const;

  // Gives the pages read so far back to the system; a later read loads them again.
  void drop_pages() const noexcept { file_.drop_pages(); }

 private:
  MappedFile file_;
  ModelFileInfo info_;
};

}  // namespace verbatim::whisper

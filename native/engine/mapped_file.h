#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "file_identity.h"

namespace verbatim {

// A whole file mapped read-only. Pages are read on first access, and the kernel can drop them at any time. So a model
// costs no more memory than the executor's own data.
class MappedFile {
 public:
  MappedFile() = default;
  // Throws EngineError kIoError when the file cannot be opened or is not a regular file.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  // Of the file when it was mapped.
  const FileIdentity& identity() const noexcept { return identity_; }
  // Gives the pages read so far back to the system; a later read loads them again.
  void drop_pages() const noexcept;

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  FileIdentity identity_;
};

}  // namespace verbatim

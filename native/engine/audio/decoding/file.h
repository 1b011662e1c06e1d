#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace verbatim {

// A regular file, open for reading. Safe to share: every read has its own offset.
class File {
 public:
  // Throws EngineError kIoError for anything but a readable regular file (a directory, a FIFO, a device file, a missing
  // path). Never waits for a writer.
  explicit File(const std::filesystem::path& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Size in bytes when the file was opened.
  std::int64_t size() const noexcept { return size_; }

  // Fills `out` from `offset`. Returns the number of bytes, less than requested only at the end of the file. Throws
  // EngineError kIoError.
  std::size_t read(std::int64_t offset, std::span<std::uint8_t> out) const;

 private:
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

// Read-ahead over a range [begin, end) of a file, for parsers that read a few bytes at a time. Offsets are the file's.
// Not thread-safe.
class ByteSource {
 public:
  // Longest view, bytes: more than the largest OGG page (65,307).
  static constexpr std::size_t kMaxView = 128 * 1024;

  ByteSource(std::shared_ptr<const File> file, std::int64_t begin, std::int64_t end);

  std::int64_t begin() const noexcept { return begin_; }
  std::int64_t end() const noexcept { return end_; }
  const std::shared_ptr<const File>& file() const noexcept { return file_; }

  // Up to `length` bytes at `offset`; fewer at the end of the range, none outside it. Valid until the next call. Throws
  // EngineError kIoError.
  std::span<const std::uint8_t> view(std::int64_t offset, std::size_t length);

  // Whether the bytes at `offset` are `text`.
  bool matches(std::int64_t offset, std::string_view text);

 private:
  std::shared_ptr<const File> file_;
  std::int64_t begin_;
  std::int64_t end_;
  std::vector<std::uint8_t> buffer_;
  std::int64_t buffer_offset_ = 0;
  std::size_t buffer_size_ = 0;
};

}  // namespace verbatim

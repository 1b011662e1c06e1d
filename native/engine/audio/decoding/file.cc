#include "audio/decoding/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "error.h"

namespace verbatim {
namespace {

// Bytes that stay before a view when the buffer moves on: scanners look some frames ahead and come back.
constexpr std::int64_t kLookBehind = 32 * 1024;
constexpr std::size_t kBufferBytes = ByteSource::kMaxView + 2 * kLookBehind;

[[noreturn]] void fail(const std::string& what, int error) {
  throw EngineError(ErrorCode::kIoError, what + ": " + std::generic_category().message(error));
}

}  // namespace

File::File(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a FIFO must not wait for its writer.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor_ < 0) fail("the audio file cannot be opened", errno);
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  const int error = errno;
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    if (!known) fail("the audio file cannot be examined", error);
    throw EngineError(ErrorCode::kIoError, "the audio file is not a regular file");
  }
  size_ = status.st_size;
}

File::~File() { ::close(descriptor_); }

std::size_t File::read(std::int64_t offset, std::span<std::uint8_t> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = ::pread(descriptor_, out.data() + done, out.size() - done, offset + static_cast<off_t>(done));
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0) {
      break;
    } else if (errno != EINTR) {
      fail("the audio file cannot be read", errno);
    }
  }
  return done;
}

ByteSource::ByteSource(std::shared_ptr<const File> file, std::int64_t begin, std::int64_t end)
    : file_(std::move(file)), begin_(begin), end_(std::max(begin, std::min(end, file_->size()))) {}

std::span<const std::uint8_t> ByteSource::view(std::int64_t offset, std::size_t length) {
  if (offset < begin_ || offset >= end_) return {};
  length = std::min({length, kMaxView, static_cast<std::size_t>(end_ - offset)});
  const std::int64_t buffered_to = buffer_offset_ + static_cast<std::int64_t>(buffer_size_);
  if (offset < buffer_offset_ || offset + static_cast<std::int64_t>(length) > buffered_to) {
    buffer_offset_ = std::max(begin_, offset - kLookBehind);
    const auto wanted = static_cast<std::size_t>(std::min<std::int64_t>(end_ - buffer_offset_, kBufferBytes));
    buffer_.resize(wanted);
    buffer_size_ = file_->read(buffer_offset_, std::span(buffer_).first(wanted));
  }
  const auto skipped = static_cast<std::size_t>(offset - buffer_offset_);
  if (skipped >= buffer_size_) return {};  // the file has shrunk since it was opened
  return std::span<const std::uint8_t>(buffer_).subspan(skipped, std::min(length, buffer_size_ - skipped));
}

bool ByteSource::matches(std::int64_t offset, std::string_view text) {
  const auto bytes = view(offset, text.size());
  return bytes.size() == text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

}  // namespace verbatim

#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace verbatim {

// What a file system says about a file. Whoever writes to the file, or puts another one in its place, changes at least
// one of these. So do a copy and a change of owner, which change no content.
struct FileIdentity {
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  // Nanoseconds since 1970: the last write, and the last change of anything.
  std::int64_t modified = 0;
  std::int64_t changed = 0;

  bool operator==(const FileIdentity&) const = default;
};

inline FileIdentity identity_of(const struct stat& status) noexcept {
  const auto nanoseconds = [](const timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  return {static_cast<std::uint64_t>(status.st_size), status.st_ino, nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim)};
}

inline std::optional<FileIdentity> identity_of(const std::filesystem::path& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return identity_of(status);
}

}  // namespace verbatim

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace verbatim::transformer {

// Places of a table on a device, by number: who uses them. Safe to use from many threads.
class Slots {
 public:
  std::size_t count() const;
  std::size_t used() const;
  // More of them; or fewer, if none of those that go is in use.
  void resize(std::size_t count);
  // The `count` lowest that are free, with one user each; there must be as many.
  std::vector<std::int32_t> take(std::size_t count);
  // One user more, one less, of each.
  void share(std::span<const std::int32_t> slots) noexcept;
  void release(std::span<const std::int32_t> slots) noexcept;
  // How many of them have a single user.
  std::size_t unshared(std::span<const std::int32_t> slots) const noexcept;

 private:
  mutable std::mutex mutex_;
  std::vector<std::int32_t> users_;
  // A heap, the lowest first; has room for all, so that to release needs no memory.
  std::vector<std::int32_t> free_;
};

}  // namespace verbatim::transformer

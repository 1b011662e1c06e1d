#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace verbatim::transformer {

// The slots of a table on a device, with the number of users of each. Safe to use from many threads.
class Slots {
 public:
  std::size_t count() const;
  std::size_t used() const;
  // Adds slots, or removes the last ones; those must not be in use.
  void resize(std::size_t count);
  // Takes the `count` lowest free slots, with one user each. So many must be free.
  std::vector<std::int32_t> take(std::size_t count);
  // Adds one user to each; removes one user from each.
  void share(std::span<const std::int32_t> slots) noexcept;
  void release(std::span<const std::int32_t> slots) noexcept;
  // Number of these slots with a single user.
  std::size_t unshared(std::span<const std::int32_t> slots) const noexcept;

 private:
  mutable std::mutex mutex_;
  std::vector<std::int32_t> users_;
  // A heap, the lowest first. It has room for all slots, so that releasing needs no memory.
  std::vector<std::int32_t> free_;
};

}  // namespace verbatim::transformer

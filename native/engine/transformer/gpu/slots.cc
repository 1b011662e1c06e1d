#include "transformer/gpu/slots.h"

#include <algorithm>
#include <functional>

namespace verbatim::transformer {

std::size_t Slots::count() const {
  const std::lock_guard lock(mutex_);
  return users_.size();
}

std::size_t Slots::used() const {
  const std::lock_guard lock(mutex_);
  return users_.size() - free_.size();
}

void Slots::resize(std::size_t count) {
  const std::lock_guard lock(mutex_);
  users_.resize(count);
  free_.clear();
  free_.reserve(users_.size());
  for (std::size_t i = 0; i < users_.size(); ++i) {
    if (users_[i] == 0) free_.push_back(static_cast<std::int32_t>(i));
  }
  std::ranges::make_heap(free_, std::greater<>{});
}

std::vector<std::int32_t> Slots::take(std::size_t count) {
  std::vector<std::int32_t> taken;
  taken.reserve(count);
  const std::lock_guard lock(mutex_);
  while (taken.size() < count) {
    std::ranges::pop_heap(free_, std::greater<>{});
    taken.push_back(free_.back());
    free_.pop_back();
    users_[static_cast<std::size_t>(taken.back())] = 1;
  }
  return taken;
}

void Slots::share(std::span<const std::int32_t> slots) noexcept {
  const std::lock_guard lock(mutex_);
  for (const std::int32_t slot : slots) ++users_[static_cast<std::size_t>(slot)];
}

void Slots::release(std::span<const std::int32_t> slots) noexcept {
  const std::lock_guard lock(mutex_);
  for (const std::int32_t slot : slots) {
    if (--users_[static_cast<std::size_t>(slot)] > 0) continue;
    free_.push_back(slot);
    std::ranges::push_heap(free_, std::greater<>{});
  }
}

std::size_t Slots::unshared(std::span<const std::int32_t> slots) const noexcept {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(slots, [&](std::int32_t slot) { return users_[static_cast<std::size_t>(slot)] == 1; }));
}

}  // namespace verbatim::transformer

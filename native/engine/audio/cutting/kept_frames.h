#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace verbatim {

// A value for every frame of a signal, in order. The oldest values are dropped; frames keep their numbers.
template <typename T>
class KeptFrames {
 public:
  void push(const T& value) { values_.push_back(value); }

  // `frame` must not be dropped yet.
  T& operator[](std::int64_t frame) { return values_[static_cast<std::size_t>(frame - first_)]; }
  const T& operator[](std::int64_t frame) const { return values_[static_cast<std::size_t>(frame - first_)]; }

  // The oldest frame that is kept, and the next frame.
  std::int64_t first() const noexcept { return first_; }
  std::int64_t end() const noexcept { return first_ + static_cast<std::int64_t>(values_.size()); }

  // Does nothing if they are dropped already.
  void discard_before(std::int64_t frame) {
    for (; !values_.empty() && first_ < frame; ++first_) values_.pop_front();
  }

 private:
  std::deque<T> values_;
  std::int64_t first_ = 0;
};

}  // namespace verbatim

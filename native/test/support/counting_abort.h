#pragma once

#include <atomic>
#include <limits>

#include "abort.h"

namespace verbatim::test {

// An abort flag that the work itself sets: it counts how often it is polled, from any thread, and is set from poll
// number `at` on; the first is 1. So a test aborts at the same place on every machine, and knows how far the work
// continued.
class CountingAbort final : public AbortFlag {
 public:
  static constexpr int kNever = std::numeric_limits<int>::max();

  explicit CountingAbort(int at = kNever) : at_(at) {}
  bool is_set() const noexcept override { return ++looks_ >= at_; }
  int looks() const noexcept { return looks_; }

 private:
  int at_;
  mutable std::atomic<int> looks_{0};
};

}  // namespace verbatim::test

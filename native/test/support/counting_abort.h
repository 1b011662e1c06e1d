#pragma once

#include <atomic>
#include <limits>

#include "abort.h"

namespace verbatim::test {

// An abort that the work itself sets off: it counts how often it is looked at, from any thread, and is set
// from the look with the number `at` on, the first being 1. So a test aborts at the same place on every
// machine, and sees how far the work went on.
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

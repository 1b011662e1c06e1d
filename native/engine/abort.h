#pragma once

#include <atomic>

namespace verbatim {

// Set by the caller from any thread, polled by the work. Outlives the call it is given to.
class AbortFlag {
 public:
  void set() noexcept { flag_.store(true, std::memory_order_relaxed); }
  bool is_set() const noexcept { return flag_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> flag_{false};
};

}  // namespace verbatim

#pragma once

#include <atomic>

namespace verbatim {

// Set by the caller from any thread, polled by the work. Outlives the call it is given to. Whoever wants to
// decide when the work looks (a deadline, a test that counts) overrides is_set(): from any thread, cheap, and
// once true it stays true.
class AbortFlag {
 public:
  AbortFlag() = default;
  virtual ~AbortFlag() = default;
  AbortFlag(const AbortFlag&) = delete;
  AbortFlag& operator=(const AbortFlag&) = delete;
  void set() noexcept { flag_.store(true, std::memory_order_relaxed); }
  virtual bool is_set() const noexcept { return flag_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> flag_{false};
};

}  // namespace verbatim

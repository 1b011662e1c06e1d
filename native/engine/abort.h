#pragma once

#include <atomic>

namespace verbatim {

// Set by the caller from any thread and polled by the work. Must outlive the call. To control when polling returns true
// (a deadline, a test that counts), override is_set(): it may be called from any thread, must be cheap, and once true
// must stay true.
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

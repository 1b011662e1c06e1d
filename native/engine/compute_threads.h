#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace verbatim {

// Threads of a lower scheduling priority that do long work for other threads. A worker of libuv's pool hands its work
// over and waits, because the same pool serves files, and an unprivileged thread cannot raise its priority again. So
// while all cores compute, the thread that answers requests still runs as soon as it has something to do.
//
// A thread is started when a run finds none idle, and is kept for later runs; the last one used is taken first. As many
// exist as runs were active at once. Threads that a run starts (OpenMP's team, ggml's pool) inherit the priority. Safe
// to call from any number of threads.
class ComputeThreads {
 public:
  // `steps`: how much lower than the priority of the constructing thread, in steps of nice(2); 0 to 19, limited to the
  // lowest priority.
  explicit ComputeThreads(int steps = kDefaultSteps);
  // Waits for the threads to end. No run may be active.
  ~ComputeThreads();
  ComputeThreads(const ComputeThreads&) = delete;
  ComputeThreads& operator=(const ComputeThreads&) = delete;

  // Returns when `work` has run on one of the threads. Throws what it throws, or std::system_error if no thread can be
  // started.
  void run(const std::function<void()>& work);

  std::size_t size() const;

  // Gives a ninth of a normal thread's share where both want the same core. The shell needs a quarter of a core; at
  // this setting Linux rarely makes it wait for a tick (4 ms), as it does with a third (5 steps). The share is still
  // large enough that another program cannot starve the service.
  static constexpr int kDefaultSteps = 10;

 private:
  class Thread;

  Thread& take();
  void release(Thread& thread);

  const int nice_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Thread*> idle_;
};

}  // namespace verbatim

#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace verbatim {

// Threads of a lower scheduling priority that do the long work of threads which must keep their own: a worker
// of libuv's pool hands its work over and waits, because the same pool serves files and an unprivileged
// thread that was lowered once cannot be raised again. While all cores compute, the thread that answers
// requests then runs as soon as it has something to do.
//
// A thread is started when a run finds none idle and is kept for later runs, the last one used first: there
// are as many as runs have been under way at once. What a run starts of its own (OpenMP's team, ggml's pool)
// inherits the priority. Safe to call from any number of threads.
class ComputeThreads {
 public:
  // `steps`: how much lower than the thread that makes this object, in steps of nice(2); 0 to 19, cut at the
  // lowest there is.
  explicit ComputeThreads(int steps = kDefaultSteps);
  // Waits for the threads to end. No run may be under way.
  ~ComputeThreads();
  ComputeThreads(const ComputeThreads&) = delete;
  ComputeThreads& operator=(const ComputeThreads&) = delete;

  // Returns when `work` has run on one of the threads; throws what it throws, or std::system_error where no
  // thread can be had.
  void run(const std::function<void()>& work);

  std::size_t size() const;

  // A ninth of a normal thread's share where both want the same core: the shell, which needs a quarter of
  // one, is then seldom owed so little that Linux lets it wait for a tick (4 ms), as it is with a third (5
  // steps); and not so little that another program on the machine could starve the service.
  static constexpr int kDefaultSteps = 10;

 private:
  class Thread;

  Thread& take();
  void give_back(Thread& thread);

  const int nice_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Thread*> idle_;
};

}  // namespace verbatim

#include "compute_threads.h"

#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

namespace verbatim {
namespace {

constexpr int kLowest = 19;

// On Linux priorities belong to threads; 0 is the calling one.
int own_nice() { return getpriority(PRIO_PROCESS, 0); }

}  // namespace

// One thread that waits for work, runs it and reports its end.
class ComputeThreads::Thread {
 public:
  explicit Thread(int nice) : thread_([this, nice] { serve(nice); }) {}

  ~Thread() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void run(const std::function<void()>& work) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [this] { return work_ == nullptr; });
    if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
  }

 private:
  void serve(int nice) {
    // A failure is ignored: the work then runs at the current priority.
    static_cast<void>(setpriority(PRIO_PROCESS, 0, nice));
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return work_ != nullptr || ending_; });
      if (work_ == nullptr) return;
      lock.unlock();
      std::exception_ptr failure;
      try {
        (*work_)();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      failure_ = std::move(failure);
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  std::exception_ptr failure_;
  bool ending_ = false;
  std::thread thread_;
};

ComputeThreads::ComputeThreads(int steps) : nice_(std::min(own_nice() + steps, kLowest)) {}

ComputeThreads::~ComputeThreads() = default;

void ComputeThreads::run(const std::function<void()>& work) {
  Thread& thread = take();
  try {
    thread.run(work);
  } catch (...) {
    release(thread);
    throw;
  }
  release(thread);
}

std::size_t ComputeThreads::size() const {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

ComputeThreads::Thread& ComputeThreads::take() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) {
    // Makes room first, so that release() cannot fail.
    idle_.reserve(threads_.size() + 1);
    return *threads_.emplace_back(std::make_unique<Thread>(nice_));
  }
  Thread* const thread = idle_.back();
  idle_.pop_back();
  return *thread;
}

void ComputeThreads::release(Thread& thread) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(&thread);
}

}  // namespace verbatim

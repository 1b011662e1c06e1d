#include "transformer/cpu/parallel.h"

#include <atomic>
#include <exception>
#include <mutex>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace verbatim::transformer {
namespace {

using Task = std::function<void(std::size_t index, std::size_t thread)>;

void run_alone(std::size_t count, const Task& task) {
  for (std::size_t index = 0; index < count; ++index) task(index, 0);
}

#ifdef _OPENMP
// Whether OpenMP keeps threads for this one.
thread_local bool has_team = false;

void end_team() {
  if (!has_team) return;
  omp_pause_resource(omp_pause_soft, omp_get_initial_device());
  has_team = false;
}

// An exception must not leave an OpenMP region.
void run_together(std::size_t count, int threads, const Task& task) {
  has_team = true;
  std::exception_ptr failure;
  std::mutex mutex;
  std::atomic<bool> failed{false};
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::size_t index = 0; index < count; ++index) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      task(index, static_cast<std::size_t>(omp_get_thread_num()));
    } catch (...) {
      const std::lock_guard lock(mutex);
      failed = true;
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}
#else
void end_team() {}
void run_together(std::size_t count, int /*threads*/, const Task& task) { run_alone(count, task); }
#endif

}  // namespace

void for_each(std::size_t count, int threads, const Task& task) {
  if (threads > 1) return run_together(count, threads, task);
  end_team();
  run_alone(count, task);
}

}  // namespace verbatim::transformer

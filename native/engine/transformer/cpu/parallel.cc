#include "transformer/cpu/parallel.h"

#include <atomic>
#include <exception>
#include <mutex>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace verbatim::transformer {
namespace {

std::size_t thread_number() {
#ifdef _OPENMP
  return static_cast<std::size_t>(omp_get_thread_num());
#else
  return 0;
#endif
}

}  // namespace

// An exception must not leave an OpenMP region.
void for_each(std::size_t count, [[maybe_unused]] int threads,
              const std::function<void(std::size_t index, std::size_t thread)>& task) {
  if (threads == 1) {
    for (std::size_t index = 0; index < count; ++index) task(index, 0);
    return;
  }
  std::exception_ptr failure;
  std::mutex mutex;
  std::atomic<bool> failed{false};
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic)
#endif
  for (std::size_t index = 0; index < count; ++index) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      task(index, thread_number());
    } catch (...) {
      const std::lock_guard lock(mutex);
      failed = true;
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace verbatim::transformer

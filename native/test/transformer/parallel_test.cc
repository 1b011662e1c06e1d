#include "transformer/cpu/parallel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

namespace verbatim::transformer {
namespace {

// Of this process.
std::ptrdiff_t threads_now() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

}  // namespace

TEST_CASE("a loop runs every index once, on no more threads than it is given") {
  for (const int threads : {1, 2, 5}) {
    CAPTURE(threads);
    std::vector<std::atomic<int>> runs(1000);
    std::atomic<std::size_t> most{0};
    for_each(runs.size(), threads, [&](std::size_t index, std::size_t thread) {
      ++runs[index];
      std::size_t seen = most;
      while (thread > seen && !most.compare_exchange_weak(seen, thread)) {
      }
    });
    CHECK(std::ranges::all_of(runs, [](int count) { return count == 1; }));
    CHECK(most < static_cast<std::size_t>(threads));
  }
}

TEST_CASE("a loop throws what a task throws") {
  for (const int threads : {1, 3}) {
    const auto run = [&] {
      for_each(100, threads, [](std::size_t index, std::size_t /*thread*/) {
        if (index == 50) throw std::runtime_error("task 50");
      });
    };
    CHECK_THROWS_WITH_AS(run(), "task 50", std::runtime_error);
  }
}

TEST_CASE("a loop on one thread ends the threads of the loops before") {
  std::thread([] {
    const auto nothing = [](std::size_t /*index*/, std::size_t /*thread*/) {};
    const std::ptrdiff_t before = threads_now();
    for (int round = 0; round < 3; ++round) {
      for_each(10, 4, nothing);
      for_each(10, 1, nothing);
      // The kernel lists a thread for a moment after it was joined.
      for (int i = 0; i < 10000 && threads_now() != before; ++i) std::this_thread::yield();
      CHECK(threads_now() == before);
    }
  }).join();
}

}  // namespace verbatim::transformer

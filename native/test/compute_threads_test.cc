#include "compute_threads.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <barrier>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace verbatim {
namespace {

int own_nice() { return getpriority(PRIO_PROCESS, 0); }

TEST_CASE("compute threads: work runs at a lower priority, and so do the threads that it starts") {
  ComputeThreads threads(3);
  const int before = own_nice();
  int during = before;
  int inherited = before;
  threads.run([&] {
    during = own_nice();
    std::thread([&] { inherited = own_nice(); }).join();
  });
  CHECK(during == std::min(before + 3, 19));
  CHECK(inherited == during);
  CHECK(own_nice() == before);
}

TEST_CASE("compute threads: an exception reaches the caller, and the thread stays usable") {
  ComputeThreads threads;
  CHECK_THROWS_AS(threads.run([] { throw std::range_error("odd"); }), std::range_error);
  bool ran = false;
  threads.run([&] { ran = true; });
  CHECK(ran);
  CHECK(threads.size() == 1);
}

TEST_CASE("compute threads: there are as many as run at once, and they are reused") {
  constexpr int kAtOnce = 4;
  ComputeThreads threads;
  std::mutex mutex;
  for (int round = 0; round < 3; ++round) {
    std::set<std::thread::id> seen;
    std::barrier all_run(kAtOnce);
    std::vector<std::thread> callers;
    for (int i = 0; i < kAtOnce; ++i) {
      callers.emplace_back([&] {
        threads.run([&] {
          all_run.arrive_and_wait();
          const std::lock_guard lock(mutex);
          seen.insert(std::this_thread::get_id());
        });
      });
    }
    for (std::thread& caller : callers) caller.join();
    CHECK(seen.size() == kAtOnce);
    CHECK(threads.size() == kAtOnce);
  }
}

}  // namespace
}  // namespace verbatim

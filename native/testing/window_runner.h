#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "speech/recogniser.h"

namespace verbatim::test {

struct RunnerOptions {
  // Threads that take units of work, and compute threads of each.
  int lanes = 1;
  int threads = 1;
  // Whether an encoder, and the batch, also has the threads of idle lanes.
  bool helps_encoder = true;
  bool helps_batch = false;
  // Steps of one turn of the batch.
  int steps = 4;
  // With so many windows in the batch, it has priority over windows that wait for an encoder.
  int full_batch = 4;
};

// Processes windows with a recogniser like the service, but without its fairness. Lanes take turns of the batch and
// units of an encoder, whichever is due. A unit of an encoder has the threads of idle lanes, too. For tests and
// benchmarks on the engine alone.
class WindowRunner {
 public:
  WindowRunner(const Recogniser& recogniser, const RunnerOptions& options);
  // Ends the lanes. No window may be in flight.
  ~WindowRunner();
  WindowRunner(const WindowRunner&) = delete;
  WindowRunner& operator=(const WindowRunner&) = delete;

  // Starts a window; any thread.
  std::shared_ptr<WindowInFlight> start(std::shared_ptr<const Window> window, const DecodeOptions& options);
  // Blocks until it is done; throws the error that it ended with.
  WindowResult finish(WindowInFlight& window);
  // start(), then finish().
  WindowResult transcribe(std::shared_ptr<const Window> window, const DecodeOptions& options);

 private:
  void work(WindowEncoder& encoder);
  bool batch_is_due() const;
  int take_idle_lanes();
  void encode(std::unique_lock<std::mutex>& lock, WindowEncoder& encoder);
  void decode(std::unique_lock<std::mutex>& lock);
  void pass_on(std::shared_ptr<WindowInFlight> window);

  const Recogniser& recogniser_;
  const RunnerOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<WindowInFlight>> to_encode_;
  std::set<const WindowInFlight*> done_;
  std::unique_ptr<DecoderBatch> batch_;
  bool is_decoding_ = false;
  // Lanes that work, and idle ones whose threads these have.
  int busy_ = 0;
  int helping_ = 0;
  bool is_ending_ = false;
  std::vector<std::unique_ptr<WindowEncoder>> encoders_;
  std::vector<std::jthread> lanes_;
};

}  // namespace verbatim::test

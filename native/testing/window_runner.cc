#include "testing/window_runner.h"

#include <algorithm>
#include <utility>

namespace verbatim::test {

WindowRunner::WindowRunner(const Recogniser& recogniser, const RunnerOptions& options)
    : recogniser_(recogniser), options_(options), batch_(recogniser.make_batch()) {
  for (int i = 0; i < options.lanes; ++i) encoders_.push_back(recogniser.make_encoder(options.threads));
  for (const auto& encoder : encoders_) lanes_.emplace_back([this, &encoder] { work(*encoder); });
}

WindowRunner::~WindowRunner() {
  const std::lock_guard lock(mutex_);
  is_ending_ = true;
  changed_.notify_all();
}

std::shared_ptr<WindowInFlight> WindowRunner::start(std::shared_ptr<const Window> window,
                                                    const DecodeOptions& options) {
  auto started = recogniser_.open(std::move(window), options);
  const std::lock_guard lock(mutex_);
  pass_on(started);
  return started;
}

WindowResult WindowRunner::finish(WindowInFlight& window) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_.erase(&window) > 0; });
  lock.unlock();
  return window.result();
}

WindowResult WindowRunner::transcribe(std::shared_ptr<const Window> window, const DecodeOptions& options) {
  return finish(*start(std::move(window), options));
}

void WindowRunner::work(WindowEncoder& encoder) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_ending_ || batch_is_due() || !to_encode_.empty(); });
    if (is_ending_) return;
    ++busy_;
    if (batch_is_due()) {
      decode(lock);
    } else {
      encode(lock, encoder);
    }
    --busy_;
  }
}

bool WindowRunner::batch_is_due() const {
  const std::size_t size = batch_->size();
  return !is_decoding_ && size > 0 && (to_encode_.empty() || size >= static_cast<std::size_t>(options_.full_batch));
}

// Those that nothing waits for; returns how many.
int WindowRunner::take_idle_lanes() {
  const int waiting = static_cast<int>(to_encode_.size()) + (batch_is_due() ? 1 : 0);
  const int idle = std::max(0, options_.lanes - busy_ - helping_ - waiting);
  helping_ += idle;
  return idle;
}

void WindowRunner::encode(std::unique_lock<std::mutex>& lock, WindowEncoder& encoder) {
  std::shared_ptr<WindowInFlight> window = std::move(to_encode_.front());
  to_encode_.pop_front();
  const int helping = options_.helps_encoder ? take_idle_lanes() : 0;
  lock.unlock();
  encoder.set_threads(options_.threads * (1 + helping));
  encoder.advance(*window);
  lock.lock();
  helping_ -= helping;
  // A window that has begun continues before others begin.
  if (window->stage() == WindowStage::kEncode) {
    to_encode_.push_front(std::move(window));
    changed_.notify_one();
  } else {
    pass_on(std::move(window));
  }
}

void WindowRunner::decode(std::unique_lock<std::mutex>& lock) {
  is_decoding_ = true;
  const int helping = options_.helps_batch ? take_idle_lanes() : 0;
  lock.unlock();
  BatchAdvance advance = batch_->advance(options_.steps, options_.threads * (1 + helping));
  lock.lock();
  helping_ -= helping;
  is_decoding_ = false;
  for (auto& window : advance.left) pass_on(std::move(window));
  changed_.notify_all();
}

void WindowRunner::pass_on(std::shared_ptr<WindowInFlight> window) {
  switch (window->stage()) {
    case WindowStage::kEncode:
      to_encode_.push_back(std::move(window));
      break;
    case WindowStage::kDecode:
      batch_->add(std::move(window));
      break;
    case WindowStage::kDone:
      done_.insert(window.get());
      break;
  }
  changed_.notify_all();
}

}  // namespace verbatim::test

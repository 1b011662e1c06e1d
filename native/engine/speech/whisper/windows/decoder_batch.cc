#include "speech/whisper/windows/decoder_batch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "error.h"
#include "milliseconds_since.h"
#include "thread_count.h"

namespace verbatim::whisper {
namespace {

using Clock = std::chrono::steady_clock;

// Most rows of one prompt in a step. A long prompt is computed in parts, so that other windows do not wait for all of
// it.
constexpr std::size_t kMostRowsOfPrompt = 48;

// Makes the request's histories from those of the step before.
void arrange_histories(WhisperWindow& window, transformer::Decoder& decoder) {
  const auto& parents = window.request().parents;
  std::vector<std::unique_ptr<transformer::History>> next;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const std::size_t parent = parents[i];
    const bool is_needed_again =
        std::find(parents.begin() + static_cast<std::ptrdiff_t>(i) + 1, parents.end(), parent) != parents.end();
    if (parent == DecodingRequest::kNewText) {
      next.push_back(decoder.make_history());
    } else if (is_needed_again) {
      next.push_back(window.histories[parent]->fork());
    } else {
      next.push_back(std::move(window.histories[parent]));
    }
  }
  window.histories = std::move(next);
}

}  // namespace

void WhisperBatch::add(std::shared_ptr<WindowInFlight> window) {
  auto ours = std::dynamic_pointer_cast<WhisperWindow>(std::move(window));
  if (!ours || ours->stage() != WindowStage::kDecode) {
    throw EngineError(ErrorCode::kInvalidArgument, "the window is not one that a batch of this model decodes now");
  }
  const std::lock_guard lock(mutex_);
  arrived_.push_back(std::move(ours));
  ++size_;
}

BatchAdvance WhisperBatch::advance(int steps, int threads) {
  require_thread_count(threads);
  BatchAdvance done;
  while (done.steps < steps && done.left.empty()) {
    admit_arrived();
    drop_aborted(done);
    if (windows_.empty()) break;
    step(threads, done);
  }
  size_ -= done.left.size();
  return done;
}

void WhisperBatch::admit_arrived() {
  const std::lock_guard lock(mutex_);
  std::ranges::move(arrived_, std::back_inserter(windows_));
  arrived_.clear();
}

void WhisperBatch::drop_aborted(BatchAdvance& done) {
  for (auto& window : windows_) {
    if (!window->abort_flag().is_set()) continue;
    window->end_aborted();
    leave(window, done);
  }
  std::erase(windows_, nullptr);
}

void WhisperBatch::step(int threads, BatchAdvance& done) {
  const auto start = Clock::now();
  inputs_.clear();
  rows_.clear();
  try {
    for (const auto& window : windows_) append_rows(*window);
    compute(threads);
  } catch (...) {
    // The contents of the caches are unknown now.
    for (const auto& window : windows_) window->fail(std::current_exception());
  }
  ++done.steps;
  done.rows += static_cast<int>(rows_.size());
  conclude(milliseconds_since(start), done);
}

void WhisperBatch::append_rows(WhisperWindow& window) {
  const DecodingRequest& request = window.request();
  if (window.rows_done == 0) arrange_histories(window, *decoder_);
  const std::size_t last = std::min(request.rows.size(), window.rows_done + kMostRowsOfPrompt);
  for (std::size_t i = window.rows_done; i < last; ++i) {
    const DecodingRow& row = request.rows[i];
    inputs_.push_back(
        {row.token, window.histories[row.history].get(), window.source.get(), row.wants_logits, row.wants_attention});
    rows_.push_back({&window, i});
  }
  window.rows_done = last;
}

void WhisperBatch::compute(int threads) {
  // The callback must not throw: an error in one row ends that row's window.
  std::vector<std::exception_ptr> failures(rows_.size());
  const auto on_logits = [&](std::size_t row, std::span<float> logits) {
    try {
      rows_[row].window->on_logits(rows_[row].index, logits);
    } catch (...) {
      failures[row] = std::current_exception();
    }
  };
  const transformer::AttentionRecord record{heads_,
                                            [&](std::size_t row, std::size_t head, std::span<const float> weights) {
                                              rows_[row].window->on_attention(rows_[row].index, head, weights);
                                            }};
  const bool records = std::ranges::any_of(inputs_, &transformer::DecoderInput::wants_attention);
  decoder_->step(inputs_, on_logits, threads, records ? &record : nullptr, nullptr);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (failures[row]) rows_[row].window->fail(failures[row]);
  }
}

void WhisperBatch::conclude(double milliseconds, BatchAdvance& done) {
  for (auto& window : windows_) {
    window->timings.decode_ms += milliseconds;
    window->timings.total_ms += milliseconds;
    if (window->stage() == WindowStage::kDone) {
      leave(window, done);
      continue;
    }
    if (window->rows_done < window->request().rows.size()) continue;
    window->rows_done = 0;
    try {
      if (window->advance()) continue;
      window->go_on();
    } catch (...) {
      window->fail(std::current_exception());
    }
    leave(window, done);
  }
  std::erase(windows_, nullptr);
}

void WhisperBatch::leave(std::shared_ptr<WhisperWindow>& window, BatchAdvance& done) {
  done.left.push_back(std::move(window));
  window = nullptr;
}

}  // namespace verbatim::whisper

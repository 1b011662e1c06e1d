#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "speech/recogniser.h"
#include "speech/whisper/windows/whisper_window.h"
#include "transformer/decoder.h"

namespace verbatim::whisper {

// Windows of any requests, lengths, temperatures and beams in one batch: each step computes the rows that the windows'
// decodings request.
class WhisperBatch final : public DecoderBatch {
 public:
  // heads: the heads whose attention windows are aligned by; must outlive this.
  WhisperBatch(std::unique_ptr<transformer::Decoder> decoder, std::span<const transformer::AttentionHead> heads)
      : decoder_(std::move(decoder)), heads_(heads) {}

  void add(std::shared_ptr<WindowInFlight> window) override;
  BatchAdvance advance(int steps, int threads) override;
  std::size_t size() const noexcept override { return size_.load(std::memory_order_relaxed); }
  std::size_t memory_bytes() const noexcept override { return decoder_->memory_bytes(); }

 private:
  // A row of the step, and its window.
  struct Row {
    WhisperWindow* window = nullptr;
    // Index of the row in the window's request.
    std::size_t index = 0;
  };

  void admit_arrived();
  void drop_aborted(BatchAdvance& done);
  void step(int threads, BatchAdvance& done);
  void append_rows(WhisperWindow& window);
  void compute(int threads);
  void conclude(double milliseconds, BatchAdvance& done);
  void leave(std::shared_ptr<WhisperWindow>& window, BatchAdvance& done);

  const std::unique_ptr<transformer::Decoder> decoder_;
  const std::span<const transformer::AttentionHead> heads_;
  std::mutex mutex_;
  // Windows that join at the next step.
  std::vector<std::shared_ptr<WhisperWindow>> arrived_;
  std::atomic<std::size_t> size_{0};
  std::vector<std::shared_ptr<WhisperWindow>> windows_;
  std::vector<transformer::DecoderInput> inputs_;
  std::vector<Row> rows_;
};

}  // namespace verbatim::whisper

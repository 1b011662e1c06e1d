#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "audio/decoding/decoder.h"

namespace verbatim {

// Delivers exactly the number of frames that was fixed before decoding: cuts any more, and adds silence if the decoder
// ends early. So the duration is exact and known without decoding.
class FixedLengthDecoder final : public Decoder {
 public:
  FixedLengthDecoder(std::unique_ptr<Decoder> decoder, std::int64_t frames)
      : decoder_(std::move(decoder)), left_(frames) {}

  const AudioInfo& info() const noexcept override { return decoder_->info(); }

  std::size_t read(std::span<float> mono) override {
    const auto wanted = static_cast<std::size_t>(std::min<std::int64_t>(left_, static_cast<std::int64_t>(mono.size())));
    std::size_t count = wanted > 0 && !ended_ ? decoder_->read(mono.first(wanted)) : 0;
    if (count == 0) {
      ended_ = true;
      std::fill_n(mono.begin(), wanted, 0.0f);
      count = wanted;
    }
    left_ -= static_cast<std::int64_t>(count);
    return count;
  }

  std::int64_t skip() override { return std::exchange(left_, 0); }

 private:
  std::unique_ptr<Decoder> decoder_;
  std::int64_t left_;
  bool ended_ = false;
};

}  // namespace verbatim

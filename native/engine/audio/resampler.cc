#include "audio/resampler.h"

#include <algorithm>
#include <string>

#include "audio/sample_rate.h"
#include "error.h"

namespace verbatim {

Resampler::Resampler(int rate, Quality wanted) : rate_(rate) {
  if (rate == kSampleRate) return;
  soxr_error_t error = nullptr;
  const soxr_quality_spec_t quality = soxr_quality_spec(wanted == Quality::kHigh ? SOXR_HQ : SOXR_QQ, 0);
  handle_.reset(soxr_create(rate, kSampleRate, 1, &error, nullptr, &quality, nullptr));
  if (error != nullptr || !handle_) {
    throw EngineError(ErrorCode::kOutOfMemory,
                      "no resampler from " + std::to_string(rate) + " Hz: " + (error != nullptr ? error : "unknown"));
  }
}

Resampler::Progress Resampler::process(std::span<const float> in, bool last, std::span<float> out) {
  if (!handle_) {
    const std::size_t count = std::min(in.size(), out.size());
    std::copy_n(in.begin(), count, out.begin());
    return {count, count};
  }
  Progress progress;
  const bool flush = last && in.empty();
  const soxr_error_t error = soxr_process(handle_.get(), flush ? nullptr : in.data(), in.size(), &progress.consumed,
                                          out.data(), out.size(), &progress.produced);
  if (error != nullptr) throw EngineError(ErrorCode::kInternalError, std::string("libsoxr: ") + error);
  return progress;
}

}  // namespace verbatim

#include "audio/live/live_signal.h"

#include <cmath>

#include "audio/sample_rate.h"

namespace verbatim {
namespace {

using Quality = Resampler::Quality;

// About what libsoxr holds for one signal.
constexpr std::size_t kResamplerBytes = 128 * 1024;
// Room for what a resampler has held back.
constexpr std::size_t kSpare = 512;

void resize(SampleBuffer& buffer, std::int64_t end) {
  if (end > buffer.end()) buffer.grow(static_cast<std::size_t>(end - buffer.end()));
  if (end < buffer.end()) buffer.shrink_by(static_cast<std::size_t>(buffer.end() - end));
}

// Appends what the resampler makes of the samples. `last`: with all that it holds back.
void resample(Resampler& resampler, std::span<const float> in, bool last, SampleBuffer& out) {
  const double ratio = static_cast<double>(kSampleRate) / resampler.rate();
  for (;;) {
    const auto room = static_cast<std::size_t>(static_cast<double>(in.size()) * ratio) + kSpare;
    const std::span<float> target = out.grow(room);
    const Resampler::Progress progress = resampler.process(in, last, target);
    for (float& sample : target.first(progress.produced)) {
      if (!std::isfinite(sample)) sample = 0;
    }
    out.shrink_by(room - progress.produced);
    in = in.subspan(progress.consumed);
    if (in.empty() && progress.produced < room && (!last || progress.produced == 0)) return;
  }
}

}  // namespace

LiveSignal::LiveSignal(int rate) : fine_resampler_(rate), quick_resampler_(rate, Quality::kQuick) {}

bool LiveSignal::resampled() const noexcept { return fine_resampler_.rate() != kSampleRate; }

void LiveSignal::push(std::span<const float> samples) {
  if (samples.empty()) return;
  resample(fine_resampler_, samples, false, fine_);
  if (resampled()) resample(quick_resampler_, samples, false, quick_);
  delayed_ = true;
  pushed_ += static_cast<std::int64_t>(samples.size());
}

void LiveSignal::flush() {
  if (!delayed_ || !resampled()) return;
  delayed_ = false;
  const int rate = fine_resampler_.rate();
  resample(fine_resampler_, {}, true, fine_);
  resample(quick_resampler_, {}, true, quick_);
  fine_resampler_ = Resampler(rate);
  quick_resampler_ = Resampler(rate, Quality::kQuick);
  // Each rounds its number of samples, which must not add up.
  const std::int64_t end = std::llround(static_cast<double>(pushed_) * kSampleRate / rate);
  resize(fine_, end);
  resize(quick_, end);
}

std::size_t LiveSignal::memory_bytes() const noexcept {
  return fine_.memory_bytes() + quick_.memory_bytes() + (resampled() ? kResamplerBytes : 0);
}

}  // namespace verbatim

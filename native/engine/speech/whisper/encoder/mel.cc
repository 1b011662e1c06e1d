#include "speech/whisper/encoder/mel.h"

#include <kiss_fftr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <new>
#include <numbers>
#include <type_traits>
#include <utility>

namespace verbatim::whisper {
namespace {

constexpr int kFrame = 400;
// Half a frame before the first sample, so that the first frame is centred on it.
constexpr int kLead = kFrame / 2;
// Frames whose power lies side by side, so that a band is summed for all of them at once.
constexpr int kBlock = 16;
// Far above full scale; keeps the power of any float file finite.
constexpr float kLoudest = 32768.0f;
constexpr float kLeastPower = 1e-10f;
// Decades below the loudest value that are kept.
constexpr float kRange = 8.0f;

using Power = std::array<float, kMelFrequencies * kBlock>;  // [frequency][frame]

float sane(float sample) { return std::isnan(sample) ? 0.0f : std::clamp(sample, -kLoudest, kLoudest); }

// The samples behind their own reflection, followed by zeros to the end of the last frame that they reach.
std::vector<float> pad(std::span<const float> samples) {
  std::vector<float> padded(samples.size() + kLead + kFrame);
  std::transform(samples.begin(), samples.end(), padded.begin() + kLead, sane);
  std::reverse_copy(padded.begin() + kLead + 1, padded.begin() + 2 * kLead + 1, padded.begin());
  return padded;
}

const std::array<float, kFrame>& hann_window() {
  static const std::array<float, kFrame> window = [] {
    std::array<float, kFrame> values{};
    for (std::size_t i = 0; i < kFrame; ++i) {
      values[i] = static_cast<float>(0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / kFrame));
    }
    return values;
  }();
  return window;
}

// Scales a logarithm of power, [-10, 14], to the encoder's input.
float scaled(float logarithm) { return (logarithm + 4.0f) / 4.0f; }

}  // namespace

// The frames of padded samples, in blocks.
class MelExtractor::Frames {
 public:
  explicit Frames(std::vector<float> padded)
      : padded_(std::move(padded)), transform_(kiss_fftr_alloc(kFrame, 0, nullptr, nullptr)) {
    if (!transform_) throw std::bad_alloc();
  }

  // The power spectra of the frames [first, first + count).
  void power(int first, int count, Power& out) const {
    const auto& window = hann_window();
    std::array<float, kFrame> frame;
    std::array<kiss_fft_cpx, kMelFrequencies> spectrum;
    for (int i = 0; i < count; ++i) {
      const float* samples = padded_.data() + static_cast<std::size_t>(first + i) * kMelHop;
      for (std::size_t j = 0; j < kFrame; ++j) frame[j] = window[j] * samples[j];
      kiss_fftr(transform_.get(), frame.data(), spectrum.data());
      for (std::size_t j = 0; j < kMelFrequencies; ++j) {
        out[j * kBlock + static_cast<std::size_t>(i)] = spectrum[j].r * spectrum[j].r + spectrum[j].i * spectrum[j].i;
      }
    }
  }

 private:
  struct Free {
    void operator()(kiss_fftr_cfg transform) const noexcept { kiss_fftr_free(transform); }
  };
  std::vector<float> padded_;
  std::unique_ptr<std::remove_pointer_t<kiss_fftr_cfg>, Free> transform_;
};

void MelSpectrogram::copy(int first, int count, float* out) const {
  const int stored = std::clamp(stored_ - first, 0, count);
  const int sound_and_padding = std::clamp(frames_ - first, 0, count);
  for (int band = 0; band < bands_; ++band, out += count) {
    const float* row = values_.data() + static_cast<std::size_t>(band) * static_cast<std::size_t>(stored_);
    if (stored > 0) std::copy_n(row + first, stored, out);
    std::fill(out + stored, out + sound_and_padding, padding_);
    std::fill(out + sound_and_padding, out + count, 0.0f);
  }
}

MelExtractor::MelExtractor(std::vector<float> filters, int bands)
    : filters_(std::move(filters)), supports_(static_cast<std::size_t>(bands)) {
  const float* weights = filters_.data();
  for (Support& support : supports_) {
    const auto is_used = [](float weight) { return weight != 0.0f; };
    const float* end = weights + kMelFrequencies;
    const float* first = std::find_if(weights, end, is_used);
    const float* last = end;
    while (last > first && !is_used(last[-1])) --last;
    support = {static_cast<int>(first - weights), static_cast<int>(last - weights)};
    weights = end;
  }
}

MelSpectrogram MelExtractor::spectrogram(std::span<const float> samples) const {
  const auto count = static_cast<int>(samples.size());
  MelSpectrogram result;
  result.bands_ = static_cast<int>(supports_.size());
  result.frames_ = count / kMelHop + kMelPadding;
  result.frames_of_sound_ = 1 + (count + kLead - kFrame) / kMelHop;
  result.stored_ = (count + kLead) / kMelHop + 1;
  result.values_.resize(supports_.size() * static_cast<std::size_t>(result.stored_));
  write_logarithms(Frames(pad(samples)), result);

  const float silence = std::log10(kLeastPower);
  const float least = std::max(silence, *std::max_element(result.values_.begin(), result.values_.end())) - kRange;
  for (float& value : result.values_) value = scaled(std::max(value, least));
  result.padding_ = scaled(std::max(silence, least));
  return result;
}

void MelExtractor::write_logarithms(const Frames& frames, MelSpectrogram& spectrogram) const {
  Power power{};
  const auto stored = static_cast<std::size_t>(spectrogram.stored_);
  for (int first = 0; first < spectrogram.stored_; first += kBlock) {
    const int count = std::min(kBlock, spectrogram.stored_ - first);
    frames.power(first, count, power);
    for (std::size_t band = 0; band < supports_.size(); ++band) {
      std::array<float, kBlock> sums{};
      for (int j = supports_[band].first; j < supports_[band].last; ++j) {
        const float weight = filters_[band * kMelFrequencies + static_cast<std::size_t>(j)];
        const float* row = power.data() + static_cast<std::size_t>(j) * kBlock;
        for (std::size_t i = 0; i < kBlock; ++i) sums[i] += weight * row[i];
      }
      float* out = spectrogram.values_.data() + band * stored + static_cast<std::size_t>(first);
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        out[i] = std::log10(std::max(sums[i], kLeastPower));
      }
    }
  }
}

}  // namespace verbatim::whisper

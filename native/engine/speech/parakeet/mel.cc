#include "speech/parakeet/mel.h"

#include <kiss_fftr.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "speech/parakeet/samples.h"

namespace verbatim::parakeet {
namespace {

// NeMo's constants.
constexpr float kPreemphasis = 0.97f;
constexpr double kLeastPower = 5.960464477539063e-08;
constexpr double kLeastDeviation = 1e-5;

struct Free {
  void operator()(kiss_fftr_cfg transform) const noexcept { kiss_fftr_free(transform); }
};
using Transform = std::unique_ptr<std::remove_pointer_t<kiss_fftr_cfg>, Free>;

// The samples with their high frequencies emphasised, with half a frame of zeros before and behind them.
std::vector<float> emphasised(std::span<const float> samples, std::size_t lead) {
  std::vector<float> padded(samples.size() + 2 * lead);
  float before = 0.0f;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const float sample = sane(samples[i]);
    padded[lead + i] = sample - kPreemphasis * before;
    before = sample;
  }
  return padded;
}

// Mean and variance are taken over the frames that lie completely within the samples.
void normalise(MelSpectrogram& spectrogram, std::size_t whole_frames) {
  const auto bands = static_cast<std::size_t>(spectrogram.bands);
  std::vector<double> average(bands);
  std::vector<double> squares(bands);
  for (std::size_t i = 0; i < whole_frames * bands; ++i) {
    average[i % bands] += static_cast<double>(spectrogram.values[i]);
  }
  const auto count = static_cast<double>(whole_frames);
  for (double& mean : average) mean /= count;
  for (std::size_t i = 0; i < whole_frames * bands; ++i) {
    const double difference = static_cast<double>(spectrogram.values[i]) - average[i % bands];
    squares[i % bands] += difference * difference;
  }
  for (std::size_t i = 0; i < spectrogram.values.size(); ++i) {
    const double deviation = std::sqrt(squares[i % bands] / (count - 1.0)) + kLeastDeviation;
    float& value = spectrogram.values[i];
    value = static_cast<float>((static_cast<double>(value) - average[i % bands]) / deviation);
  }
}

}  // namespace

MelExtractor::MelExtractor(std::vector<float> filters, std::vector<float> window, int bands, int fft)
    : fft_(fft),
      filters_(std::move(filters)),
      window_(static_cast<std::size_t>(fft)),
      supports_(static_cast<std::size_t>(bands)) {
  const auto lead = static_cast<std::ptrdiff_t>((window_.size() - window.size()) / 2);
  std::ranges::copy(window, window_.begin() + lead);
  const std::size_t frequencies = window_.size() / 2 + 1;
  const float* weights = filters_.data();
  for (Support& support : supports_) {
    const float* const end = weights + frequencies;
    const float* const first = std::find_if(weights, end, [](float weight) { return weight != 0.0f; });
    const float* last = end;
    while (last > first && last[-1] == 0.0f) --last;
    support = {static_cast<int>(first - weights), static_cast<int>(last - weights)};
    weights = end;
  }
}

MelSpectrogram MelExtractor::spectrogram(std::span<const float> samples) const {
  MelSpectrogram result;
  result.bands = static_cast<int>(supports_.size());
  result.frames = static_cast<int>(samples.size()) / kMelHop + 1;
  result.values.resize(supports_.size() * static_cast<std::size_t>(result.frames));
  write_logarithms(emphasised(samples, window_.size() / 2), result);
  normalise(result, samples.size() / kMelHop);
  return result;
}

void MelExtractor::write_logarithms(const std::vector<float>& padded, MelSpectrogram& spectrogram) const {
  const Transform transform(kiss_fftr_alloc(fft_, 0, nullptr, nullptr));
  if (!transform) throw std::bad_alloc();
  const std::size_t frequencies = window_.size() / 2 + 1;
  std::vector<float> frame(window_.size());
  std::vector<kiss_fft_cpx> spectrum(frequencies);
  std::vector<float> power(frequencies);
  float* out = spectrogram.values.data();
  for (int i = 0; i < spectrogram.frames; ++i) {
    const float* const from = padded.data() + static_cast<std::size_t>(i) * kMelHop;
    for (std::size_t j = 0; j < frame.size(); ++j) frame[j] = window_[j] * from[j];
    kiss_fftr(transform.get(), frame.data(), spectrum.data());
    for (std::size_t j = 0; j < frequencies; ++j) {
      power[j] = spectrum[j].r * spectrum[j].r + spectrum[j].i * spectrum[j].i;
    }
    const float* weights = filters_.data();
    for (const Support& support : supports_) {
      double sum = 0.0;
      for (int j = support.first; j < support.last; ++j) {
        sum += static_cast<double>(weights[j]) * static_cast<double>(power[static_cast<std::size_t>(j)]);
      }
      *out++ = static_cast<float>(std::log(sum + kLeastPower));
      weights += frequencies;
    }
  }
}

}  // namespace verbatim::parakeet

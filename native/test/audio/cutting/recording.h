#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "audio/cutting/segmenter.h"
#include "audio/decoded_audio.h"

namespace verbatim::test {

struct Piece {
  std::int64_t begin;
  std::int64_t end;
};

// The window's pieces, in samples of the file.
inline std::vector<Piece> pieces(const Window& window) {
  std::vector<Piece> found{{window.start_sample, window.start_sample}};
  std::size_t at = 0;
  for (const Skip& skip : window.skips) {
    REQUIRE(skip.at > at);
    REQUIRE(skip.length > 0);
    found.back().end += static_cast<std::int64_t>(skip.at - at);
    found.push_back({found.back().end + skip.length, found.back().end + skip.length});
    at = skip.at;
  }
  found.back().end += static_cast<std::int64_t>(window.samples.size() - at);
  return found;
}

// A made-up recording: noise, with stretches that rise and fall four times a second, like speech.
class Recording {
 public:
  explicit Recording(double noise_dbfs = -200) : noise_(amplitude(noise_dbfs)) {}

  static double amplitude(double dbfs) { return dbfs <= -200 ? 0 : std::pow(10.0, dbfs / 20); }

  Recording& silence(double seconds) { return add(seconds, -200); }
  Recording& speech(double seconds, double peak_dbfs) {
    spoken_.push_back({at(), at() + seconds});
    return add(seconds, peak_dbfs);
  }
  Recording& click() {
    for (int i = 0; i < 40; ++i) samples_.push_back(i % 2 == 0 ? 0.9f : -0.9f);
    return *this;
  }
  double at() const { return static_cast<double>(samples_.size()) / kSampleRate; }

  struct Span {
    double begin;
    double end;
  };
  const std::vector<Span>& spoken() const { return spoken_; }
  const std::vector<float>& samples() const { return samples_; }

  std::vector<Window> cut(const WindowPolicy& policy) const {
    const auto path =
        write_audio(directory_ / "recording.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, kSampleRate, 1, samples_);
    AudioReader reader(path);
    Segmenter segmenter(reader, policy);
    std::vector<Window> windows;
    std::int64_t position = 0;
    while (auto window = segmenter.next()) {
      CHECK(segmenter.position() >= position);
      position = segmenter.position();
      windows.push_back(std::move(*window));
    }
    CHECK(segmenter.position() == static_cast<std::int64_t>(samples_.size()));
    CHECK_FALSE(segmenter.next());
    check_order(windows, policy);
    return windows;
  }

 private:
  Recording& add(double seconds, double peak_dbfs) {
    const double peak = amplitude(peak_dbfs);
    const auto count = static_cast<std::size_t>(std::llround(seconds * kSampleRate));
    std::normal_distribution<double> noise(0, 1);
    for (std::size_t i = 0; i < count; ++i) {
      const double t = static_cast<double>(i) / kSampleRate;
      const double syllables = 0.525 - 0.475 * std::cos(2 * std::numbers::pi * 4 * t);
      double voice = 0;
      for (int harmonic = 1; harmonic <= 10; ++harmonic) {
        voice += std::sin(2 * std::numbers::pi * 140 * harmonic * t) / harmonic;
      }
      samples_.push_back(static_cast<float>(0.5 * peak * syllables * voice + noise_ * noise(random_)));
    }
    return *this;
  }

  // Windows are in order, apart, of allowed lengths, and have the file's own samples.
  void check_order(const std::vector<Window>& windows, const WindowPolicy& policy) const {
    std::int64_t end = 0;
    for (const Window& window : windows) {
      CHECK(window.start_sample >= end);
      CHECK(!window.samples.empty());
      CHECK(window.seconds() <= policy.max_seconds + 1e-9);
      if (policy.cut == WindowPolicy::Cut::kPause) CHECK(window.skips.empty());
      auto at = window.samples.begin();
      for (const auto& [begin, stop] : pieces(window)) {
        CHECK(begin < stop);
        CHECK(begin >= end);
        end = stop;
        REQUIRE(end <= static_cast<std::int64_t>(samples_.size()));
        REQUIRE(window.samples.end() - at >= stop - begin);
        CHECK(std::equal(at, at + (stop - begin), samples_.begin() + begin));
        at += stop - begin;
      }
      CHECK(at == window.samples.end());
    }
  }

  double noise_;
  std::mt19937 random_{1};
  std::vector<float> samples_;
  std::vector<Span> spoken_;
  TemporaryDirectory directory_;
};

}  // namespace verbatim::test

#include "speech/whisper/encoder/mel.h"

#include <doctest/doctest.h>
#include <whisper.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "encoder/distance.h"
#include "speech/model_file.h"
#include "speech/random_models/noise.h"
#include "speech/support.h"
#include "speech/whisper_cpp/whisper_state.h"

namespace verbatim::whisper {
namespace {

constexpr int kRate = 16000;
constexpr double kTolerance = 1e-4;

std::vector<float> bundled_filters() {
  std::ifstream file(test::bundled_model_path(), std::ios::binary);
  return check_model_file(file).mel_filters;
}

const MelExtractor& bundled_extractor() {
  static const MelExtractor extractor(bundled_filters(), 80);
  return extractor;
}

// All values, [bands][frames].
std::vector<float> all_of(const MelSpectrogram& spectrogram) {
  std::vector<float> values(static_cast<std::size_t>(spectrogram.bands()) *
                            static_cast<std::size_t>(spectrogram.frames()));
  spectrogram.copy(0, spectrogram.frames(), values.data());
  return values;
}

struct Circle {
  std::array<double, 400> cosine{};
  std::array<double, 400> sine{};
  Circle() {
    for (std::size_t i = 0; i < 400; ++i) {
      cosine[i] = std::cos(2 * std::numbers::pi * static_cast<double>(i) / 400);
      sine[i] = std::sin(2 * std::numbers::pi * static_cast<double>(i) / 400);
    }
  }
};

double power(const double* frame, std::size_t frequency) {
  static const Circle circle;
  double real = 0;
  double imaginary = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    const std::size_t angle = frequency * i % 400;
    const double value = frame[i] * (0.5 - 0.5 * circle.cosine[i]);
    real += value * circle.cosine[angle];
    imaginary -= value * circle.sine[angle];
  }
  return real * real + imaginary * imaginary;
}

// The definition in double precision, as in whisper.cpp's log_mel_spectrogram: [bands][frames]. For less than 201
// samples whisper.cpp reads past the end; this reads zeros.
std::vector<double> by_definition(const std::vector<float>& samples, const std::vector<float>& filters) {
  const std::size_t bands = filters.size() / kMelFrequencies;
  std::vector<double> padded(200 + samples.size() + 30 * kRate + 200);
  std::copy(samples.begin(), samples.end(), padded.begin() + 200);
  for (std::size_t i = 0; i < 200; ++i) padded[i] = padded[400 - i];
  const std::size_t frames = (padded.size() - 400) / 160;
  std::vector<double> values(bands * frames, -10.0);
  for (std::size_t frame = 0; frame * 160 < 200 + samples.size() && frame < frames; ++frame) {
    std::array<double, kMelFrequencies> spectrum;
    for (std::size_t j = 0; j < kMelFrequencies; ++j) spectrum[j] = power(&padded[frame * 160], j);
    for (std::size_t band = 0; band < bands; ++band) {
      double sum = 0;
      for (std::size_t j = 0; j < kMelFrequencies; ++j) sum += spectrum[j] * filters[band * kMelFrequencies + j];
      values[band * frames + frame] = std::log10(std::max(sum, 1e-10));
    }
  }
  const double least = *std::max_element(values.begin(), values.end()) - 8;
  for (double& value : values) value = (std::max(value, least) + 4) / 4;
  return values;
}

template <typename A, typename B>
double largest_difference(const std::vector<A>& a, const std::vector<B>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    // Written so that a NaN fails.
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest = difference <= largest ? largest : difference;
  }
  return largest;
}

void check_definition(const std::vector<float>& samples, const std::vector<float>& filters) {
  const MelExtractor extractor(filters, static_cast<int>(filters.size() / kMelFrequencies));
  CHECK(largest_difference(all_of(extractor.spectrogram(samples)), by_definition(samples, filters)) < kTolerance);
}

std::vector<float> tone(std::size_t samples, double hertz, double amplitude) {
  std::vector<float> result(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    result[i] = static_cast<float>(amplitude * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / kRate));
  }
  return result;
}

// The decoder's logits for the start of transcript after an encoder pass over `frames` from `offset` on.
std::vector<float> logits_at(whisper_context* context, whisper_state* state, int offset) {
  const whisper_token start = whisper_token_sot(context);
  REQUIRE(whisper_encode_with_state(context, state, offset, 1) == 0);
  REQUIRE(whisper_decode_with_state(context, state, &start, 1, 0, 1) == 0);
  const float* logits = whisper_get_logits_from_state(state);
  return {logits, logits + whisper_n_vocab(context)};
}

// The bundled model's weights have few bits, so that even the last bit of a feature matters.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  return bench::distance(a, b, a.size()).overall;
}

void give(whisper_context* context, whisper_state* state, const MelSpectrogram& spectrogram) {
  REQUIRE(whisper_set_mel_with_state(context, state, all_of(spectrogram).data(), spectrogram.frames(),
                                     spectrogram.bands()) == 0);
}

}  // namespace

TEST_CASE("a log-mel spectrogram matches its definition, for any number of samples") {
  const std::vector<float> filters = bundled_filters();
  for (const std::size_t samples :
       {1, 39, 40, 41, 159, 160, 199, 200, 201, 400, 1799, 1800, 2400, 16000, 30 * kRate - 1, 30 * kRate}) {
    CAPTURE(samples);
    check_definition(random_models::noise(samples, 1), filters);
  }
}

TEST_CASE("a log-mel spectrogram matches its definition, for sounds that reach down to the clamp") {
  const std::vector<float> filters = bundled_filters();
  check_definition(tone(20000, 1000, 1.0), filters);
  check_definition(tone(20000, 1000.3, 1.0), filters);
  check_definition(tone(20000, 7990, 1e-4), filters);
  std::vector<float> loud_then_quiet = random_models::noise(20000, 1);
  for (std::size_t i = 10000; i < loud_then_quiet.size(); ++i) loud_then_quiet[i] *= 1e-5f;
  check_definition(loud_then_quiet, filters);
  check_definition(std::vector<float>(5000, 1.0f), filters);
  for (const test::Clip& clip : test::sentences()) {
    CAPTURE(clip.file);
    check_definition(test::window_of(clip.file).samples, filters);
  }
}

TEST_CASE("a filter bank may have 128 bands, bands of all frequencies and bands of none") {
  std::vector<float> filters = random_models::noise(128 * kMelFrequencies, 2);
  for (float& weight : filters) weight = std::abs(weight) * 0.02f;
  std::fill_n(filters.begin() + 5 * kMelFrequencies, kMelFrequencies, 0.0f);
  check_definition(random_models::noise(4000, 1), filters);
}

TEST_CASE("frames of a spectrogram are copied from anywhere: sound, padding, then zeros") {
  const std::vector<float> samples = random_models::noise(16000, 1);
  const MelSpectrogram spectrogram = bundled_extractor().spectrogram(samples);
  CHECK(spectrogram.frames() == 3100);
  CHECK(spectrogram.frames_of_sound() == 99);
  const std::vector<float> all = all_of(spectrogram);
  for (const int first : {0, 1, 50, 101, 102, 103, 2000, 3099, 3100, 5000}) {
    CAPTURE(first);
    constexpr int kCount = 200;
    std::vector<float> part(80 * kCount, std::numeric_limits<float>::quiet_NaN());
    spectrogram.copy(first, kCount, part.data());
    std::vector<float> expected;
    for (int band = 0; band < 80; ++band) {
      for (int frame = first; frame < first + kCount; ++frame) {
        expected.push_back(frame < 3100 ? all[static_cast<std::size_t>(band * 3100 + frame)] : 0.0f);
      }
    }
    CHECK(part == expected);
  }
}

TEST_CASE("silence has the least value everywhere, and no samples count as silence") {
  for (const std::size_t samples : {std::size_t{0}, std::size_t{1}, std::size_t{32000}}) {
    CAPTURE(samples);
    const MelSpectrogram spectrogram = bundled_extractor().spectrogram(std::vector<float>(samples));
    const std::vector<float> all = all_of(spectrogram);
    CHECK(std::all_of(all.begin(), all.end(), [](float value) { return value == -1.5f; }));
  }
}

TEST_CASE("NaNs become 0 and absurd samples are clipped: a spectrogram is finite") {
  std::vector<float> hostile = random_models::noise(8000, 1);
  std::vector<float> repaired = hostile;
  const float infinity = std::numeric_limits<float>::infinity();
  hostile[100] = std::numeric_limits<float>::quiet_NaN();
  repaired[100] = 0.0f;
  hostile[2000] = infinity;
  repaired[2000] = 32768.0f;
  hostile[3000] = -std::numeric_limits<float>::max();
  repaired[3000] = -32768.0f;
  const std::vector<float> values = all_of(bundled_extractor().spectrogram(hostile));
  CHECK(std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); }));
  CHECK(values == all_of(bundled_extractor().spectrogram(repaired)));
}

// whisper.cpp does not expose its own spectrogram; its results with ours must be the same.
TEST_CASE("whisper.cpp recognises in a given spectrogram what it recognises in the samples" *
          doctest::test_suite("long")) {
  whisper_context* const context = test::bundled_model()->context();
  const StatePointer theirs(whisper_init_state(context));
  const StatePointer ours(whisper_init_state(context));
  const std::vector<test::Clip> clips = test::sentences();
  for (std::size_t i = 0; i < clips.size(); i += 4) {
    const test::Clip& clip = clips[i];
    CAPTURE(clip.file);
    const std::vector<float>& samples = test::window_of(clip.file).samples;
    const MelSpectrogram spectrogram = bundled_extractor().spectrogram(samples);
    REQUIRE(whisper_pcm_to_mel_with_state(context, theirs.get(), samples.data(), static_cast<int>(samples.size()), 1) ==
            0);
    give(context, ours.get(), spectrogram);
    CHECK(whisper_n_len_from_state(theirs.get()) == spectrogram.frames_of_sound());
    for (const int offset : {0, spectrogram.frames_of_sound() / 2}) {
      const std::vector<float> logits = logits_at(context, theirs.get(), offset);
      const double same = distance(logits_at(context, ours.get(), offset), logits);
      const double frame_later = distance(logits_at(context, ours.get(), offset + 1), logits);
      CHECK(same < 0.03);
      CHECK(frame_later > 2 * same);
    }
  }
}

}  // namespace verbatim::whisper

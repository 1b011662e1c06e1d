#include "speech/random_models/weight_traits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "speech/random_models/ggml_writer.h"
#include "speech/random_models/noise.h"
#include "speech/support.h"
#include "speech/whisper/encoder/mel.h"
#include "speech/whisper/encoder/reference_encoder.h"
#include "speech/whisper/small_models.h"

namespace verbatim::random_models {
namespace {

constexpr int kPositions = 120;
constexpr std::int32_t kHeads = 4;

test::EncodingTrace trace_of(const WeightTraits& traits) {
  const test::SmallModel file({.width = 256, .heads = kHeads, .traits = traits});
  const whisper::ModelReader reader(file.path());
  const whisper::MelSpectrogram mel =
      whisper::MelExtractor(reader.mel_filters(), file.shape.mels).spectrogram(noise(3 * 16000, 3));
  std::vector<float> frames(static_cast<std::size_t>(mel.bands() * 2 * kPositions));
  mel.copy(0, 2 * kPositions, frames.data());
  test::EncodingTrace trace;
  test::reference_encoding(reader, frames, kPositions, &trace);
  return trace;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// How much larger the outliers are than the rest.
double ratio(const std::vector<double>& sizes) {
  std::vector<double> outliers, rest;
  for (std::size_t i = 0; i < sizes.size(); ++i) (is_outlier(i) ? outliers : rest).push_back(sizes[i]);
  return median(outliers) / median(rest);
}

// How much larger the outliers are than in a plain model.
void check_growth(std::span<const std::vector<double>> outlying, std::span<const std::vector<double>> plain) {
  for (std::size_t i = 0; i < outlying.size(); ++i) {
    CAPTURE(i);
    CHECK(ratio(plain[i]) < 4);
    CHECK(ratio(outlying[i]) / ratio(plain[i]) > 30);
    CHECK(ratio(outlying[i]) / ratio(plain[i]) < 90);
  }
}

std::string text_of(const WeightTraits& traits) {
  return test::file_text(test::SmallModel({.width = 64, .heads = 2, .audio_layers = 1, .traits = traits}).path());
}

}  // namespace

TEST_CASE("outlier channels are some 60 times the rest in the input of every layer behind the convolutions") {
  const test::EncodingTrace plain = trace_of({}), outlying = trace_of({.outliers = true});
  for (const auto* trace : {&plain, &outlying}) {
    CHECK(trace->norms.size() == 5);
    CHECK(trace->attentions.size() == 2);
    CHECK(trace->inners.size() == 2);
  }
  // The convolutions' GELU changes the ratio in front of the first norm.
  CHECK(ratio(outlying.norms[0]) / ratio(plain.norms[0]) > 10);
  check_growth(std::span(outlying.norms).subspan(1), std::span(plain.norms).subspan(1));
  check_growth(outlying.attentions, plain.attentions);
  check_growth(outlying.inners, plain.inners);
}

TEST_CASE("every second head is sharp: its probabilities are nearly those of one position") {
  const test::EncodingTrace plain = trace_of({}), sharp = trace_of({.sharp_heads = true});
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t head = 0; head < kHeads; ++head) {
      CAPTURE(layer);
      CAPTURE(head);
      // The entropy of an even choice among all positions is log(120) = 4.8.
      CHECK(plain.entropies[layer][head] > 4);
      if (is_sharp(head)) {
        CHECK(sharp.entropies[layer][head] < 0.8);
      } else {
        CHECK(sharp.entropies[layer][head] > 4);
      }
    }
  }
}

TEST_CASE("each trait changes a file, and a file without traits has the bytes that it always had") {
  const std::string plain = text_of({});
  const std::string outlying = text_of({.outliers = true}), sharp = text_of({.sharp_heads = true});
  CHECK(outlying != plain);
  CHECK(sharp != plain);
  CHECK(text_of({.outliers = true, .sharp_heads = true}) != outlying);
  CHECK(text_of({.outliers = true, .sharp_heads = true}) != sharp);
  CHECK(outlying.size() == plain.size());
  CHECK(name_hash(plain) == 2063744588u);
}

}  // namespace verbatim::random_models

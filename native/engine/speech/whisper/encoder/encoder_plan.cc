#include "speech/whisper/encoder/encoder_plan.h"

namespace verbatim::whisper {
namespace {

// A layer of Whisper base with 1500 positions has 14.0e9 operations.
constexpr std::uint64_t kOperationsInUnit = 14'500'000'000;
// Bounds a unit's graph for small models.
constexpr std::size_t kStepsInUnit = 24;

// Operations of a product with a weight.
std::uint64_t product(std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
  return 2 * static_cast<std::uint64_t>(rows * inputs * outputs);
}

}  // namespace

std::vector<EncoderStep> encoder_steps(const ModelShape& shape, int positions) {
  using Kind = EncoderStep::Kind;
  const std::int64_t n = positions;
  const std::int64_t width = shape.audio_state;
  const std::uint64_t convolutions = product(2 * n, 3 * shape.mels, width) + product(n, 3 * width, width);
  const std::uint64_t attention = product(n, width, 4 * width) + 2 * product(n, n, width);
  const std::uint64_t feed_forward = product(n, width, 8 * width);

  std::vector<EncoderStep> steps{{Kind::kConvolutions, 0, convolutions}};
  for (int layer = 0; layer < shape.audio_layers; ++layer) {
    steps.push_back({Kind::kAttention, layer, attention});
    steps.push_back({Kind::kFeedForward, layer, feed_forward});
  }
  steps.push_back({Kind::kFinalNorm, 0, 0});
  for (int layer = 0; layer < shape.text_layers; ++layer) {
    steps.push_back({Kind::kCross, layer, product(n, width, 2 * width)});
  }
  return steps;
}

std::vector<std::size_t> unit_ends(const std::vector<EncoderStep>& steps) {
  std::vector<std::size_t> ends;
  std::size_t first = 0;
  std::uint64_t operations = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool full = operations + steps[i].operations > kOperationsInUnit || i - first == kStepsInUnit;
    if (i > first && full) {
      ends.push_back(i);
      first = i;
      operations = 0;
    }
    operations += steps[i].operations;
  }
  ends.push_back(steps.size());
  return ends;
}

}  // namespace verbatim::whisper

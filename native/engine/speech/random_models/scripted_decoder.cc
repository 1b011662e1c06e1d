#include "speech/random_models/scripted_decoder.h"

#include <string>

#include "error.h"

namespace verbatim::random_models {
namespace {

// Whisper's multilingual vocabulary: text, end of text, start of transcript, a token for each language, translate,
// transcribe, four more, no timestamps, and the timestamps in steps of 20 ms.
constexpr std::int32_t kEndOfText = 50257;
constexpr std::int32_t kEnglish = kEndOfText + 2;
constexpr std::int32_t kFirstText = 1000;
constexpr std::int32_t kWindowEnd = 29 * 50;
constexpr int kMostText = 400;
// A row of the embedding has length 1, and a layer adds some tens. This gives the scripted token a logit of
// sqrt(text_state), and any other token at most a tenth of that.
constexpr float kLoudness = 2000.0f;

}  // namespace

std::vector<std::int32_t> scripted_tokens(const ModelShape& shape, int text_tokens) {
  if (text_tokens < 1 || text_tokens > kMostText) {
    throw EngineError(
        ErrorCode::kInvalidArgument,
        std::to_string(text_tokens) + " tokens cannot be scripted; allowed: 1 to " + std::to_string(kMostText));
  }
  const std::int32_t transcribe = kEnglish + shape.languages() + 1;
  const std::int32_t first_timestamp = transcribe + 5;
  std::vector<std::int32_t> tokens{kEnglish, transcribe, first_timestamp};
  for (int i = 0; i < text_tokens; ++i) tokens.push_back(kFirstText + i);
  tokens.push_back(first_timestamp + kWindowEnd);
  tokens.resize(static_cast<std::size_t>(shape.text_context), kEndOfText);
  return tokens;
}

void script_positions(std::span<float> positions, std::span<const float> embedding, const ModelShape& shape,
                      int text_tokens) {
  const auto width = static_cast<std::size_t>(shape.text_state);
  std::size_t row = 0;
  for (const std::int32_t token : scripted_tokens(shape, text_tokens)) {
    const auto wanted = embedding.subspan(static_cast<std::size_t>(token) * width, width);
    for (std::size_t i = 0; i < width; ++i) positions[row * width + i] += kLoudness * wanted[i];
    ++row;
  }
}

}  // namespace verbatim::random_models

#include "transformer/embedder.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "error.h"
#include "transformer/half.h"
#include "transformer/quantize_weights.h"

namespace verbatim::transformer {
namespace {

// Sines in the first half, cosines in the second; positions are counted from 1 (OpenNMT-tf's encoder).
void sinusoid(std::size_t position, std::span<float> out) {
  const std::size_t half = out.size() / 2;
  const float step = -std::log(10000.0f) / static_cast<float>(half - 1);
  for (std::size_t j = 0; j < half; ++j) {
    const float angle = static_cast<float>(position + 1) * std::exp(static_cast<float>(j) * step);
    out[j] = std::sin(angle);
    out[half + j] = std::cos(angle);
  }
}

}  // namespace

void Embedder::check(TokenId token, std::size_t position) const {
  const std::size_t vocabulary = stack_.embeddings.rows;
  if (token < 0 || static_cast<std::size_t>(token) >= vocabulary) {
    throw EngineError(ErrorCode::kInvalidArgument, "token " + std::to_string(token) + " is not one of the " +
                                                       std::to_string(vocabulary) + " of the vocabulary");
  }
  if (positions() > 0 && position >= positions()) {
    throw EngineError(ErrorCode::kInvalidArgument,
                      "the text is longer than the decoder's " + std::to_string(positions()) + " positions");
  }
}

void Embedder::position_row(std::size_t position, std::span<float> out) const {
  if (!stack_.positions.empty()) return stack_.positions.read_row(position, out);
  if (stack_.generated_positions) return sinusoid(position, out);
  std::ranges::fill(out, 0.0f);
}

void Embedder::embed(TokenId token, std::span<const float> position_row, std::span<float> out) const {
  stack_.embeddings.read_row(static_cast<std::size_t>(token), out);
  round_to_type(out);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] * stack_.embeddings_scale + position_row[i];
}

void Embedder::round_to_type(std::span<float> row) const {
  if (!stack_.round_embeddings) return;
  const MatrixView& stored = stack_.embeddings;
  if (type_ == ComputeType::kFloat16 && !stored.holds(ElementType::kFloat16)) {
    for (float& value : row) value = float16_to_float(float_to_float16(value));
  } else if (type_ == ComputeType::kBfloat16 && !stored.holds(ElementType::kBfloat16)) {
    for (float& value : row) value = bfloat16_to_float(float_to_bfloat16(value));
  } else if (type_ == ComputeType::kInt8 && !stored.holds(ElementType::kInt8)) {
    std::vector<std::int8_t> values(row.size());
    const float scale = quantize_weights(row, values);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(values[i]) / scale;
  }
}

}  // namespace verbatim::transformer

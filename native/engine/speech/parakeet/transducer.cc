#include "speech/parakeet/transducer.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "error.h"
#include "transformer/kernels/kernels.h"
#include "transformer/transformer.h"

namespace verbatim::parakeet {
namespace {

using namespace transformer;

const std::string kPrediction = "decoder.prediction.";

std::string gates_of(const char* side, int layer) {
  return kPrediction + "dec_rnn.lstm.weight_" + side + "_l" + std::to_string(layer);
}

// Joins matrices column-wise.
MatrixView beside(std::vector<StoredMatrix> parts) {
  MatrixView view;
  view.rows = parts.front().rows;
  for (const StoredMatrix& part : parts) view.columns += part.columns;
  view.reader = [parts = std::move(parts)](std::size_t row, std::span<float> out) {
    std::size_t at = 0;
    for (const StoredMatrix& part : parts) {
      part.read_row(row, out.subspan(at, part.columns));
      at += part.columns;
    }
  };
  return view;
}

// Every matrix of the kernels, in the order of packing.
std::vector<MatrixView> matrices_of(const ModelReader& reader) {
  std::vector<MatrixView> all;
  for (int i = 0; i < reader.info().shape.prediction_layers; ++i) {
    all.push_back(beside({reader.matrix(gates_of("ih", i)), reader.matrix(gates_of("hh", i))}));
  }
  all.push_back(beside({reader.matrix("joint.pred.weight")}));
  all.push_back(beside({reader.matrix("joint.joint_net.2.weight")}));
  return all;
}

// The format of the kernels' own products beside an encoder of this one.
ProductFormat step_format(const ProductFormat& format) { return {format.type, nullptr}; }

std::size_t bytes_of(const ModelReader& reader, const ProductFormat& format) {
  std::size_t sum = packed_linear_bytes(stacked({reader.matrix("joint.enc.weight")}), format);
  for (const MatrixView& matrix : matrices_of(reader)) sum += LinearWeight::memory_bytes(matrix, step_format(format));
  return sum;
}

// The first index of the largest value; 0 if all are NaN.
std::int32_t likeliest(std::span<const float> logits) {
  constexpr float kLeast = -1e10f;
  std::int32_t best = 0;
  float most = kLeast;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > most) {
      most = logits[i];
      best = static_cast<std::int32_t>(i);
    }
  }
  return best;
}

float probability_of(const Kernels& kernels, std::span<const float> logits, std::int32_t piece) {
  const float logit = logits[static_cast<std::size_t>(piece)];
  const float sum = kernels.log_sum_exp(logits.data(), logits.size(), logit);
  const float probability = std::exp(logit - sum);
  return std::isnan(probability) ? 0.0f : std::clamp(probability, 0.0f, 1.0f);
}

}  // namespace

TransducerWeights::TransducerWeights(const ModelReader& reader, const ProductFormat& format)
    : pieces(reader.info().shape.vocabulary),
      most_tokens(reader.info().shape.most_tokens),
      durations(reader.info().durations),
      embeddings(reader.matrix(kPrediction + "embed.weight")),
      prediction_bias(reader.values("joint.pred.bias")),
      joint_bias(reader.values("joint.joint_net.2.bias")),
      format_(format),
      memory_(bytes_of(reader, format)) {
  const ProductFormat steps = step_format(format);
  const std::vector<MatrixView> matrices = matrices_of(reader);
  auto next = matrices.begin();
  for (int i = 0; i < reader.info().shape.prediction_layers; ++i) {
    layers.push_back({LinearWeight(*next++, steps, memory_),
                      reader.values(kPrediction + "dec_rnn.lstm.bias_h_l" + std::to_string(i))});
  }
  prediction = LinearWeight(*next++, steps, memory_);
  joint = LinearWeight(*next++, steps, memory_);
  encoder =
      pack_linear({stacked({reader.matrix("joint.enc.weight")}), reader.values("joint.enc.bias")}, format, memory_);
}

Transducer::Transducer(const TransducerWeights& weights, const Kernels& kernels)
    : weights_(weights),
      kernels_(kernels),
      projection_(make_row_multiplier(weights.format(), kernels)),
      steps_(make_row_multiplier(step_format(weights.format()), kernels)),
      state_(weights.prediction_bias.size()),
      inputs_(weights.layers.size() * 2 * state_),
      cells_(weights.layers.size() * state_),
      gates_(4 * state_),
      exponentials_(4 * state_),
      predicted_(state_),
      joined_(state_),
      logits_(weights.joint_bias.size()) {}

std::vector<DecodedToken> Transducer::decode(const std::vector<float>& encoded, const AbortFlag* abort) {
  const std::int32_t blank = weights_.pieces;
  const auto positions = static_cast<std::int64_t>(encoded.size() / weights_.encoder.weight.depth());
  const std::span<const float> pieces(logits_.data(), static_cast<std::size_t>(blank) + 1);
  const std::span<const float> durations = std::span<const float>(logits_).subspan(pieces.size());
  std::vector<DecodedToken> tokens;
  std::ranges::fill(inputs_, 0.0f);
  std::ranges::fill(cells_, 0.0f);
  project(encoded);
  predict(blank);
  int at_position = 0;
  for (std::int64_t position = 0; position < positions;) {
    if (abort != nullptr && abort->is_set()) throw EngineError(ErrorCode::kAborted, "aborted by the caller");
    join(position);
    const std::int32_t piece = likeliest(pieces);
    const std::int32_t duration = weights_.durations[static_cast<std::size_t>(likeliest(durations))];
    if (piece == blank) {
      position += std::max(duration, 1);
      at_position = 0;
      continue;
    }
    tokens.push_back({piece, probability_of(kernels_, pieces, piece), position, duration});
    predict(piece);
    if (duration == 0 && ++at_position < weights_.most_tokens) continue;
    position += std::max(duration, 1);
    at_position = 0;
  }
  return tokens;
}

// Projects all positions at once; the rest of a step is the same at every position.
void Transducer::project(const std::vector<float>& encoded) {
  const std::size_t width = weights_.encoder.weight.depth();
  const std::size_t positions = encoded.size() / width;
  const std::size_t row_bytes = projection_->row_bytes(width);
  operands_.resize(positions * row_bytes);
  for (std::size_t i = 0; i < positions; ++i) {
    projection_->write_operands(encoded.data() + i * width, width, operands_.data() + i * row_bytes);
  }
  projected_.resize(positions * state_);
  projection_->multiply({.weight = weights_.encoder.weight,
                         .rows = positions,
                         .operands = operands_.data(),
                         .epilogue = {.bias = weights_.encoder.bias.data()},
                         .y = projected_.data()});
}

void Transducer::predict(std::int32_t piece) {
  weights_.embeddings.read_row(static_cast<std::size_t>(piece), std::span(inputs_).first(state_));
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    float* const input = inputs_.data() + 2 * i * state_;
    advance(weights_.layers[i], input, cells_.data() + i * state_);
    const float* const output = input + state_;
    if (i + 1 < weights_.layers.size()) std::copy_n(output, state_, input + 2 * state_);
  }
  multiply(weights_.prediction, inputs_.data() + inputs_.size() - state_, weights_.prediction_bias, predicted_.data());
}

// Gates: input, forget, output, and the new cell. The sigmoid is 1 / (1 + exp(-x)), tanh is 1 - 2 / (1 + exp(2 x)).
void Transducer::advance(const TransducerWeights::Layer& layer, float* input, float* cell) {
  multiply(layer.gates, input, layer.bias, gates_.data());
  for (std::size_t i = 0; i < 3 * state_; ++i) gates_[i] = -gates_[i];
  for (std::size_t i = 3 * state_; i < 4 * state_; ++i) gates_[i] *= 2.0f;
  kernels_.exponentials(gates_.data(), gates_.size(), 0.0f, exponentials_.data());
  const float* const power = exponentials_.data();
  for (std::size_t i = 0; i < state_; ++i) {
    const float in = 1.0f / (1.0f + power[i]);
    const float kept = 1.0f / (1.0f + power[state_ + i]);
    const float fresh = 1.0f - 2.0f / (1.0f + power[3 * state_ + i]);
    cell[i] = kept * cell[i] + in * fresh;
    gates_[i] = 2.0f * cell[i];
  }
  kernels_.exponentials(gates_.data(), state_, 0.0f, gates_.data());
  float* const output = input + state_;
  for (std::size_t i = 0; i < state_; ++i) {
    output[i] = (1.0f - 2.0f / (1.0f + gates_[i])) / (1.0f + power[2 * state_ + i]);
  }
}

void Transducer::join(std::int64_t position) {
  const float* const encoded = projected_.data() + static_cast<std::size_t>(position) * state_;
  for (std::size_t i = 0; i < state_; ++i) joined_[i] = std::max(encoded[i] + predicted_[i], 0.0f);
  multiply(weights_.joint, joined_.data(), weights_.joint_bias, logits_.data());
}

void Transducer::multiply(const LinearWeight& matrix, const float* x, const std::vector<float>& bias, float* y) {
  operands_.resize(std::max(operands_.size(), steps_->row_bytes(matrix.depth())));
  steps_->write_operands(x, matrix.depth(), operands_.data());
  steps_->multiply(
      {.weight = matrix, .rows = 1, .operands = operands_.data(), .epilogue = {.bias = bias.data()}, .y = y});
}

std::size_t Transducer::memory_bytes() const noexcept {
  return projection_->memory_bytes() + steps_->memory_bytes() + operands_.capacity() +
         sizeof(float) * (projected_.capacity() + inputs_.capacity() + cells_.capacity() + gates_.capacity() +
                          exponentials_.capacity() + predicted_.capacity() + joined_.capacity() + logits_.capacity());
}

}  // namespace verbatim::parakeet

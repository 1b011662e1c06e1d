#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "support/device_under_test.h"
#include "testing/random_transformer.h"
#include "transformer/cpu/decoder.h"
#include "transformer/gpu/decoder.h"

// The graphs for GPUs, on the device under test, against the kernels for processors.
namespace verbatim::transformer {

using Logits = std::vector<std::vector<float>>;

struct DecoderTypes {
  ComputeType weights = ComputeType::kFloat32;
  CacheTypes caches;
};

// ggml's CPU device computes the other GELU with a float16 table.
inline RandomDecoderShape with_exact_gelu(RandomDecoderShape shape) {
  shape.activation = Activation::kGelu;
  return shape;
}

// The same decoder in both forms, with common texts and sources.
class DecoderPair {
 public:
  struct Text {
    std::unique_ptr<History> gpu, cpu;
  };
  struct Source {
    std::unique_ptr<CrossCache> gpu, cpu;
  };
  struct Row {
    Row(TokenId its_token, const Text& its_text, const Source& its_source, bool wants = true)
        : token(its_token), text(&its_text), source(&its_source), wants_logits(wants) {}
    TokenId token;
    const Text* text;
    const Source* source;
    bool wants_logits;
  };

  explicit DecoderPair(const RandomDecoderShape& shape = {}, DecoderTypes types = {},
                       ggml_backend_dev_t device = test::open_device_under_test())
      : random_(with_exact_gelu(shape)),
        gpu_weights_(random_.model(), types.weights, device),
        cpu_weights_(random_.model(), ComputeType::kFloat32),
        gpu_(std::make_unique<GpuDecoder>(random_.model(), gpu_weights_, types.caches, device)),
        cpu_(make_cpu_decoder(random_.model(), cpu_weights_, {}, kernels())) {}

  GpuDecoder& gpu() { return *gpu_; }
  Text text() { return {gpu_->make_history(), cpu_->make_history()}; }
  static Text fork(const Text& text) { return {text.gpu->fork(), text.cpu->fork()}; }
  Source source(std::size_t positions) {
    Source made{gpu_->make_cross_cache(positions), cpu_->make_cross_cache(positions)};
    for (std::size_t layer = 0; layer < random_.shape().layers; ++layer) {
      const auto values = random_.source(positions);
      made.cpu->write(layer, 0, values);
      // In two parts, the second one first.
      const std::size_t half = positions / 2;
      const auto cut = std::span<const float>(values).subspan(half * 2 * random_.shape().width);
      made.gpu->write(layer, half, cut);
      if (half > 0) made.gpu->write(layer, 0, std::span(values).first(values.size() - cut.size()));
    }
    return made;
  }

  Logits gpu_step(const std::vector<Row>& rows, const AbortFlag* abort = nullptr,
                  const AttentionRecord* record = nullptr) {
    std::vector<DecoderInput> inputs;
    for (const Row& row : rows)
      inputs.push_back({row.token, row.text->gpu.get(), row.source->gpu.get(), row.wants_logits});
    return logits_of(*gpu_, inputs, abort, record);
  }
  Logits cpu_step(const std::vector<Row>& rows, const AttentionRecord* record = nullptr) {
    std::vector<DecoderInput> inputs;
    for (const Row& row : rows)
      inputs.push_back({row.token, row.text->cpu.get(), row.source->cpu.get(), row.wants_logits});
    return logits_of(*cpu_, inputs, nullptr, record);
  }
  // A step of both; their logits must be equal up to rounding.
  void step(const std::vector<Row>& rows, double tolerance = 1e-4) {
    const Logits found = gpu_step(rows), expected = cpu_step(rows);
    CHECK(furthest(found, expected) < tolerance);
  }

  static double furthest(const Logits& found, const Logits& expected) {
    double distance = 0.0;
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found[i].size() == expected[i].size());
      for (std::size_t j = 0; j < found[i].size(); ++j) {
        REQUIRE(std::isfinite(found[i][j]));
        distance = std::max(distance, static_cast<double>(std::abs(found[i][j] - expected[i][j])));
      }
    }
    return distance;
  }

 private:
  static Logits logits_of(Decoder& decoder, const std::vector<DecoderInput>& inputs, const AbortFlag* abort,
                          const AttentionRecord* record) {
    Logits logits(inputs.size());
    decoder.step(
        inputs,
        [&](std::size_t row, std::span<float> values) {
          CHECK(logits[row].empty());
          logits[row].assign(values.begin(), values.end());
        },
        2, record, abort);
    return logits;
  }

  RandomDecoder random_;
  GpuWeights gpu_weights_;
  CpuWeights cpu_weights_;
  std::unique_ptr<GpuDecoder> gpu_;
  std::unique_ptr<Decoder> cpu_;
};

using PairRows = std::vector<DecoderPair::Row>;

inline PairRows rows_of(const std::vector<TokenId>& tokens, const DecoderPair::Text& text,
                        const DecoderPair::Source& source, bool wants_logits = true) {
  PairRows rows;
  for (const TokenId token : tokens) rows.push_back({token, text, source, wants_logits});
  return rows;
}

}  // namespace verbatim::transformer

#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "testing/random_transformer.h"
#include "transformer/cpu/decoder.h"
#include "transformer/sample_text.h"

namespace verbatim::transformer {

using Logits = std::vector<std::vector<float>>;

inline constexpr int kThreads = 1;

// A decoder with its model and weights.
struct DecoderFixture {
  RandomDecoder random;
  CpuWeights weights;
  std::unique_ptr<Decoder> decoder;

  explicit DecoderFixture(const RandomDecoderShape& shape = {}, ComputeType type = ComputeType::kFloat32,
                          CacheTypes caches = {}, const Kernels& variant = kernels())
      : random(shape),
        weights(random.model(), type),
        decoder(make_cpu_decoder(random.model(), weights, caches, variant)) {}

  // A new source with its own values.
  std::unique_ptr<CrossCache> source(std::size_t positions) {
    auto cache = decoder->make_cross_cache(positions);
    for (std::size_t layer = 0; layer < random.shape().layers; ++layer)
      cache->write(layer, 0, random.source(positions));
    return cache;
  }

  // Logits by row; empty for rows without.
  Logits step(const std::vector<DecoderInput>& rows, int threads = kThreads, const AbortFlag* abort = nullptr) {
    Logits logits(rows.size());
    decoder->step(
        rows, [&](std::size_t row, std::span<float> values) { logits[row].assign(values.begin(), values.end()); },
        threads, nullptr, abort);
    return logits;
  }

  // Logits behind each token of a text that is decoded one token per step.
  Logits one_by_one(const std::vector<TokenId>& text, const CrossCache& source) {
    const auto history = decoder->make_history();
    Logits logits;
    for (const TokenId token : text) logits.push_back(step({{token, history.get(), &source}}).front());
    return logits;
  }
};

inline std::vector<DecoderInput> rows_of(const std::vector<TokenId>& text, History& history, const CrossCache& source) {
  std::vector<DecoderInput> rows;
  for (const TokenId token : text) rows.push_back({token, &history, &source});
  return rows;
}

}  // namespace verbatim::transformer

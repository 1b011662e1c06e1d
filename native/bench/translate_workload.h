#pragma once

#include <random>
#include <string>
#include <vector>

#include "measure.h"
#include "translation/model.h"

namespace verbatim::translation {

// Size of the vocabulary of the measured model; its tokens are "t3", "t4", ...
inline constexpr int kBenchVocabulary = 58000;

struct BenchSettings {
  TranslationModelOptions model;
  int threads = 1;
  int repeats = 1;
  // Source tokens of a sentence.
  int tokens_in = 1;
  int tokens_out = 1;
  std::vector<int> batches;
  std::vector<int> beams;
};

// `count` sentences of random tokens.
inline std::vector<TranslationInput> random_sentences(int count, int tokens, std::mt19937& random) {
  std::uniform_int_distribution<int> token(3, kBenchVocabulary - 1);
  std::vector<TranslationInput> result(static_cast<std::size_t>(count));
  for (auto& input : result) {
    for (int i = 0; i < tokens; ++i) input.source.push_back(std::string("t").append(std::to_string(token(random))));
  }
  return result;
}

// Options that force exactly tokens_out tokens for every sentence, whatever the weights.
inline TranslationOptions forced_length(const BenchSettings& settings, int beam) {
  TranslationOptions options;
  options.beam_size = beam;
  options.max_decoding_length = options.min_decoding_length = settings.tokens_out;
  return options;
}

struct BenchTime {
  double wall_ms = 0.0;
  double encode_ms = 0.0;
  // Processor time of the process, all threads together. On a busy machine it is more reliable than wall-clock time.
  double processor_ms = 0.0;
  std::size_t tokens = 0;
};

inline BenchTime time_batch(Translator& translator, const std::vector<TranslationInput>& sentences,
                            const TranslationOptions& options) {
  TranslationBatch batch;
  const bench::Cost cost = bench::cost_of([&] { batch = translator.translate(sentences, options, nullptr); });
  return {batch.timings.total_ms, batch.timings.encode_ms, cost.cpu_ms, batch.timings.tokens_out};
}

struct Spread {
  double least = 0.0, median = 0.0, most = 0.0;
};

template <typename Item, typename Value>
Spread spread(const std::vector<Item>& items, Value value) {
  std::vector<double> values;
  for (const Item& item : items) values.push_back(value(item));
  return {bench::least(values), bench::median(values), bench::most(values)};
}

}  // namespace verbatim::translation

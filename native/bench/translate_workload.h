#pragma once

#include <algorithm>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "translation/model.h"

namespace verbatim::translation {

// Vocabulary of the measured model; its tokens are "t3", "t4", ...
inline constexpr int kBenchVocabulary = 58000;

struct BenchSettings {
  TranslationModelOptions model;
  int threads = 1;
  int repeats = 5;
  int tokens_in = 25;
  int tokens_out = 25;
  std::vector<int> batches{1, 8, 32};
  std::vector<int> beams{1, 4};
};

// `count` sentences of random tokens.
inline std::vector<TranslationInput> random_sentences(int count, int tokens, std::mt19937& random) {
  std::uniform_int_distribution<int> token(3, kBenchVocabulary - 1);
  std::vector<TranslationInput> result(static_cast<std::size_t>(count));
  for (auto& input : result) {
    for (int i = 0; i < tokens; ++i)
      input.source.push_back(std::string("t").append(std::to_string(token(random))));
  }
  return result;
}

// Exactly tokens_out tokens a sentence, whatever the weights would like.
inline TranslationOptions forced_length(const BenchSettings& settings, int beam) {
  TranslationOptions options;
  options.beam_size = beam;
  options.max_decoding_length = options.min_decoding_length = settings.tokens_out;
  return options;
}

struct BenchTime {
  double wall_ms = 0.0;
  double encode_ms = 0.0;
  // Of the process, all threads together: on a busy machine it says more than the wall clock.
  double processor_ms = 0.0;
  std::size_t tokens = 0;
};

inline BenchTime time_batch(Translator& translator, const std::vector<TranslationInput>& sentences,
                            const TranslationOptions& options) {
  const std::clock_t start = std::clock();
  const TranslationBatch batch = translator.translate(sentences, options, nullptr);
  const std::clock_t processor = std::clock() - start;
  return {batch.timings.total_ms, batch.timings.encode_ms,
          1000.0 * static_cast<double>(processor) / CLOCKS_PER_SEC, batch.timings.tokens_out};
}

struct Spread {
  double least = 0.0, median = 0.0, most = 0.0;
};

template <typename Item, typename Value>
Spread spread(const std::vector<Item>& items, Value value) {
  std::vector<double> values;
  for (const Item& item : items) values.push_back(value(item));
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
  return {values.front(), median, values.back()};
}

}  // namespace verbatim::translation

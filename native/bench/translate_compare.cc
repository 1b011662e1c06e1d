#include "translate_compare.h"

#include "translation/backends/load.h"

#include <cstdio>

namespace verbatim::translation {
namespace {

struct Contestant {
  std::shared_ptr<const TranslationModel> model;
  std::unique_ptr<Translator> translator;

  Contestant(const std::string& directory, BenchSettings settings, const char* backend) {
    settings.model.backend = backend;
    model = load_model(directory, settings.model);
    translator = model->create_translator(settings.threads);
  }
};

struct Pair {
  BenchTime ours, theirs;
};

std::vector<Pair> run_pairs(Contestant& ours, Contestant& theirs, const BenchSettings& settings, int batch, int beam) {
  const TranslationOptions options = forced_length(settings, beam);
  std::mt19937 random(7);
  std::vector<Pair> pairs;
  for (int i = -1; i < settings.repeats; ++i) {
    const auto sentences = random_sentences(batch, settings.tokens_in, random);
    Pair pair;
    pair.ours = time_batch(*ours.translator, sentences, options);
    pair.theirs = time_batch(*theirs.translator, sentences, options);
    if (i >= 0) pairs.push_back(pair);  // the first warms up
  }
  return pairs;
}

void print_spread(const char* name, const Spread& times) {
  std::printf(R"(,"%s":{"least":%.3f,"median":%.3f,"most":%.3f})", name, times.least, times.median, times.most);
}

void print_cell(const std::vector<Pair>& pairs) {
  print_spread("processor_ms", spread(pairs, [](const Pair& p) { return p.ours.processor_ms; }));
  print_spread("ctranslate2_processor_ms", spread(pairs, [](const Pair& p) { return p.theirs.processor_ms; }));
  print_spread("processor_ratio",
               spread(pairs, [](const Pair& p) { return p.theirs.processor_ms / p.ours.processor_ms; }));
  print_spread("wall_ms", spread(pairs, [](const Pair& p) { return p.ours.wall_ms; }));
  print_spread("ctranslate2_wall_ms", spread(pairs, [](const Pair& p) { return p.theirs.wall_ms; }));
  print_spread("wall_ratio", spread(pairs, [](const Pair& p) { return p.theirs.wall_ms / p.ours.wall_ms; }));
}

}  // namespace

void compare_backends(const std::string& directory, const BenchSettings& settings) {
  Contestant ours(directory, settings, "ggml"), theirs(directory, settings, "ctranslate2");
  for (const int beam : settings.beams) {
    for (const int batch : settings.batches) {
      const auto pairs = run_pairs(ours, theirs, settings, batch, beam);
      std::printf(R"({"compute":"%s","ctranslate2_compute":"%s","threads":%d,"batch":%d,"beam":%d,"pairs":%zu)",
                  ours.model->info().compute_type.c_str(), theirs.model->info().compute_type.c_str(), settings.threads,
                  batch, beam, pairs.size());
      print_cell(pairs);
      std::printf("}\n");
      std::fflush(stdout);
    }
  }
}

}  // namespace verbatim::translation

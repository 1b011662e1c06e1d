// Tokens per second of a translation model: greedy and beam 4, batches of 1, 8 and 32, each weight type.
//
//   translate_bench make DIR [float32|int8]     writes a model of OPUS-MT's shape with random weights
//   translate_bench run DIR [options]           measures it and prints one JSON line a cell
//     --backend ggml|ctranslate2  --device cpu|cuda:N  --compute TYPE  --threads N  --repeats N
//     --in N  --out N (source and forced target tokens)  --batch N  --beam N (only that cell)
// processor_ms is the least time of the process itself: on a busy machine it says more than the wall clock.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/random_ct2_model.h"
#include "translation/model.h"

namespace {

using namespace verbatim::translation;

struct Settings {
  TranslationModelOptions model;
  int threads = 1;
  int repeats = 5;
  int tokens_in = 25;
  int tokens_out = 25;
  std::vector<int> batches{1, 8, 32};
  std::vector<int> beams{1, 4};
};

Settings parse(int argc, char** argv) {
  Settings settings;
  const std::map<std::string, int*> numbers{{"--threads", &settings.threads},
                                            {"--repeats", &settings.repeats},
                                            {"--in", &settings.tokens_in},
                                            {"--out", &settings.tokens_out}};
  const std::map<std::string, std::string*> names{{"--backend", &settings.model.backend},
                                                  {"--device", &settings.model.device},
                                                  {"--compute", &settings.model.compute_type}};
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (numbers.contains(name))
      *numbers.at(name) = std::stoi(argv[i + 1]);
    else if (names.contains(name))
      *names.at(name) = argv[i + 1];
    else if (name == "--batch")
      settings.batches = {std::stoi(argv[i + 1])};
    else if (name == "--beam")
      settings.beams = {std::stoi(argv[i + 1])};
    else
      throw std::invalid_argument("unknown option " + name);
  }
  return settings;
}

void make(const std::string& directory, const std::string& type) {
  RandomModel model;
  model.encoder_layers = model.decoder_layers = 6;
  model.width = 512;
  model.heads = 8;
  model.inner = 2048;
  model.vocabulary = 58000;
  model.positions = 512;
  model.tied = true;
  model.type = type == "int8" ? Ct2Type::kInt8 : Ct2Type::kFloat32;
  RandomModelWriter(model).write(directory);
}

std::vector<TranslationInput> inputs(int count, int tokens, std::mt19937& random) {
  std::uniform_int_distribution<int> token(3, 57999);
  std::vector<TranslationInput> result(static_cast<std::size_t>(count));
  for (auto& input : result) {
    for (int i = 0; i < tokens; ++i) input.source.push_back("t" + std::to_string(token(random)));
  }
  return result;
}

void measure(Translator& translator, const TranslationModelInfo& info, const Settings& settings, int batch,
             int beam) {
  TranslationOptions options;
  options.beam_size = beam;
  options.max_decoding_length = options.min_decoding_length = settings.tokens_out;
  std::mt19937 random(7);
  std::vector<double> times;
  std::vector<double> encoder_times;
  std::vector<double> processor_times;
  std::size_t tokens = 0;
  for (int i = -1; i < settings.repeats; ++i) {
    const auto sentences = inputs(batch, settings.tokens_in, random);
    const std::clock_t start = std::clock();
    const auto result = translator.translate(sentences, options, nullptr);
    const std::clock_t processor = std::clock() - start;
    if (i < 0) continue;  // warm-up
    processor_times.push_back(1000.0 * static_cast<double>(processor) / CLOCKS_PER_SEC);
    times.push_back(result.timings.total_ms);
    encoder_times.push_back(result.timings.encode_ms);
    tokens = result.timings.tokens_out;
  }
  std::ranges::sort(times);
  std::ranges::sort(encoder_times);
  std::ranges::sort(processor_times);
  const double median = times[times.size() / 2];
  std::printf(
      R"({"backend":"%s","device":"%s","compute":"%s","threads":%d,"batch":%d,"beam":%d,"ms_min":%.1f,"ms_median":%.1f,)"
      R"("ms_max":%.1f,"encode_ms":%.1f,"processor_ms":%.1f,"tokens_per_second":%.0f})"
      "\n",
      info.backend.c_str(), info.device.c_str(), info.compute_type.c_str(), settings.threads, batch, beam,
      times.front(), median, times.back(), encoder_times[encoder_times.size() / 2], processor_times.front(),
      static_cast<double>(tokens) / median * 1000.0);
  std::fflush(stdout);
}

void run(const std::string& directory, const Settings& settings) {
  const auto model = TranslationModel::load(directory, settings.model);
  const auto translator = model->create_translator(settings.threads);
  for (const int beam : settings.beams) {
    for (const int batch : settings.batches) measure(*translator, model->info(), settings, batch, beam);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string command = argc > 2 ? argv[1] : "";
    if (command == "make") {
      make(argv[2], argc > 3 ? argv[3] : "float32");
    } else if (command == "run") {
      run(argv[2], parse(argc, argv));
    } else {
      std::fprintf(stderr, "usage: translate_bench make DIR [float32|int8] | run DIR [options]\n");
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "translate_bench: %s\n", error.what());
    return 1;
  }
}

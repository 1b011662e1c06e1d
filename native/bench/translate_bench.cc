// Tokens per second of a translation model: greedy and beam 4, batches of 1, 8 and 32, each weight type.
//
//   translate_bench make DIR [float32|int8]     writes a model of OPUS-MT's shape with random weights
//   translate_bench run DIR [options]           measures it and prints one JSON line a cell
//   translate_bench compare DIR [options]       the built-in executor and the CTranslate2 library in turns
//     --backend ggml|ctranslate2  --device cpu|cuda:N  --compute TYPE  --threads N  --repeats N
//     --in N  --out N (source and forced target tokens)  --batch N  --beam N (only that cell)
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/random_ct2_model.h"
#include "translate_compare.h"
#include "translate_workload.h"

namespace {

using namespace verbatim::translation;

BenchSettings parse(int argc, char** argv) {
  BenchSettings settings;
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
  model.vocabulary = kBenchVocabulary;
  model.positions = 512;
  model.tied = true;
  model.type = type == "int8" ? Ct2Type::kInt8 : Ct2Type::kFloat32;
  RandomModelWriter(model).write(directory);
}

void measure(Translator& translator, const TranslationModelInfo& info, const BenchSettings& settings,
             int batch, int beam) {
  const TranslationOptions options = forced_length(settings, beam);
  std::mt19937 random(7);
  std::vector<BenchTime> times;
  for (int i = -1; i < settings.repeats; ++i) {
    const BenchTime time =
        time_batch(translator, random_sentences(batch, settings.tokens_in, random), options);
    if (i >= 0) times.push_back(time);  // the first warms up
  }
  const Spread wall = spread(times, [](const BenchTime& time) { return time.wall_ms; });
  const Spread encode = spread(times, [](const BenchTime& time) { return time.encode_ms; });
  const Spread processor = spread(times, [](const BenchTime& time) { return time.processor_ms; });
  std::printf(
      R"({"backend":"%s","device":"%s","compute":"%s","threads":%d,"batch":%d,"beam":%d,"ms_min":%.1f,"ms_median":%.1f,)"
      R"("ms_max":%.1f,"encode_ms":%.1f,"processor_ms":%.1f,"tokens_per_second":%.0f})"
      "\n",
      info.backend.c_str(), info.device.c_str(), info.compute_type.c_str(), settings.threads, batch, beam,
      wall.least, wall.median, wall.most, encode.median, processor.least,
      static_cast<double>(times.front().tokens) / wall.median * 1000.0);
  std::fflush(stdout);
}

void run(const std::string& directory, const BenchSettings& settings) {
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
    } else if (command == "compare") {
      compare_backends(argv[2], parse(argc, argv));
    } else {
      std::fprintf(stderr, "usage: translate_bench make DIR [float32|int8] | run|compare DIR [options]\n");
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "translate_bench: %s\n", error.what());
    return 1;
  }
}

// Tokens per second of a translation model: greedy and beam 4, batches of 1, 8 and 32, each weight type.
//
//   translate_bench make DIR [float32|int8]     writes a model of OPUS-MT's shape with random weights
//   translate_bench run DIR [options]           measures it and prints one JSON line per cell
//   translate_bench compare DIR [options]       the ggml backend and the CTranslate2 library in turns
//     --backend ggml|ctranslate2  --device cpu|cuda:N  --compute TYPE  --threads N  --repeats N
//     --in N  --out N (source and forced target tokens)  --batch 1,8,32  --beam 1,4
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "options.h"
#include "program.h"
#include "testing/random_ct2_model.h"
#include "translate_compare.h"
#include "translate_workload.h"
#include "translation/backends/load.h"

namespace {

using namespace verbatim::bench;
using namespace verbatim::transformer;
using namespace verbatim::translation;

Options parse(const std::vector<std::string>& words) {
  const TranslationModelOptions model;
  return Options({.defaults = {{"--backend", model.backend},
                               {"--device", model.device},
                               {"--compute", model.compute_type},
                               {"--threads", "1"},
                               {"--repeats", "5"},
                               {"--in", "25"},
                               {"--out", "25"},
                               {"--batch", "1,8,32"},
                               {"--beam", "1,4"}},
                  .most_operands = 3},
                 words);
}

BenchSettings settings_of(const Options& options) {
  BenchSettings settings;
  settings.model.backend = options["--backend"];
  settings.model.device = options["--device"];
  settings.model.compute_type = options["--compute"];
  settings.threads = integer(options["--threads"], 1);
  settings.repeats = integer(options["--repeats"], 1);
  settings.tokens_in = integer(options["--in"], 1);
  settings.tokens_out = integer(options["--out"], 1);
  settings.batches = positive_integers(options["--batch"]);
  settings.beams = positive_integers(options["--beam"]);
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
  model.type = type == "int8" ? ElementType::kInt8 : ElementType::kFloat32;
  RandomModelWriter(model).write(directory);
}

void measure(Translator& translator, const TranslationModelInfo& info, const BenchSettings& settings, int batch,
             int beam) {
  const TranslationOptions options = forced_length(settings, beam);
  std::mt19937 random(7);
  std::vector<BenchTime> times;
  for (int i = -1; i < settings.repeats; ++i) {
    const BenchTime time = time_batch(translator, random_sentences(batch, settings.tokens_in, random), options);
    if (i >= 0) times.push_back(time);  // the first warms up
  }
  const Spread wall = spread(times, [](const BenchTime& time) { return time.wall_ms; });
  const Spread encode = spread(times, [](const BenchTime& time) { return time.encode_ms; });
  const Spread processor = spread(times, [](const BenchTime& time) { return time.processor_ms; });
  std::printf(R"({"backend":"%s","device":"%s","compute":"%s","threads":%d,"batch":%d,"beam":%d,"ms_min":%.1f,)"
              R"("ms_median":%.1f,"ms_max":%.1f,"encode_ms":%.1f,"processor_ms":%.1f,"tokens_per_second":%.0f})"
              "\n",
              info.backend.c_str(), info.device.c_str(), info.compute_type.c_str(), settings.threads, batch, beam,
              wall.least, wall.median, wall.most, encode.median, processor.least,
              static_cast<double>(times.front().tokens) / wall.median * 1000.0);
  std::fflush(stdout);
}

void measure_cells(const std::string& directory, const BenchSettings& settings) {
  const auto model = load_model(directory, settings.model);
  const auto translator = model->create_translator(settings.threads);
  for (const int beam : settings.beams) {
    for (const int batch : settings.batches) measure(*translator, model->info(), settings, batch, beam);
  }
}

void run(const std::vector<std::string>& words) {
  const Options options = parse(words);
  const std::vector<std::string>& operands = options.operands();
  const std::string command = operands.size() > 1 ? operands[0] : "";
  if (command == "make") {
    make(operands[1], operands.size() > 2 ? operands[2] : "float32");
  } else if (command == "run") {
    measure_cells(operands[1], settings_of(options));
  } else if (command == "compare") {
    compare_backends(operands[1], settings_of(options));
  } else {
    throw std::invalid_argument("usage: translate_bench make DIR [float32|int8] | run|compare DIR [options]");
  }
}

}  // namespace

int main(int count, char** values) { return run_program(count, values, run); }

// Measures milliseconds per step of the decoder, on a processor or as graphs on a GPU. Random weights of Whisper base's
// shape; every row has its own text and its own window.
//
//   decoder_bench [options]       prints one JSON line per cell
//     --rows 1,4,8,32  --compute int8,bfloat16,float32  --cross TYPE  --history TYPE (of keys and values; default:
//     by the compute type)  --kernels avx512|avx-vnni|avx2|neon-i8mm|neon-dot|neon|generic
//     --graphs cpu|cuda:N (ggml's own operations on that device instead of the kernels: float16 too, caches in float32
//     or float16)
//     --threads N  --steps N (tokens per text)  --repeats N  --positions N  --layers N  --width N  --heads N
//     --inner N  --vocabulary N
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend_devices.h"
#include "measure.h"
#include "options.h"
#include "program.h"
#include "testing/random_transformer.h"
#include "transformer/cpu/decoder.h"
#include "transformer/gpu/decoder.h"
#include "transformer/gpu/executor.h"

namespace {

using namespace verbatim::bench;
using namespace verbatim::transformer;

Options parse(const std::vector<std::string>& words) {
  return Options({.defaults = {{"--rows", "1,4,8,32"},
                               {"--compute", "int8,bfloat16,float32"},
                               {"--cross", ""},
                               {"--history", ""},
                               {"--kernels", kernels().name},
                               {"--graphs", ""},
                               {"--threads", "1"},
                               {"--steps", "96"},
                               {"--repeats", "3"},
                               {"--positions", "1500"},
                               {"--layers", "6"},
                               {"--width", "512"},
                               {"--heads", "8"},
                               {"--inner", "2048"},
                               {"--vocabulary", "51865"}}},
                 words);
}

std::size_t size_of(const Options& options, const std::string& name) {
  return static_cast<std::size_t>(integer(options[name], 1));
}

ComputeType type_of(const std::string& name) {
  for (const ComputeType type :
       {ComputeType::kFloat32, ComputeType::kFloat16, ComputeType::kBfloat16, ComputeType::kInt8}) {
    if (name == compute_type_name(type)) return type;
  }
  throw std::invalid_argument("type \"" + name + "\": float32, float16 (with --graphs), bfloat16 or int8");
}

CacheTypes caches_of(const Options& options, ComputeType type) {
  const bool is_exact = type == ComputeType::kFloat32;
  CacheTypes caches{type, is_exact ? type : ComputeType::kBfloat16};
  if (!options["--graphs"].empty() && !is_exact) caches = {ComputeType::kFloat16, ComputeType::kFloat16};
  if (!options["--cross"].empty()) caches.cross = type_of(options["--cross"]);
  if (!options["--history"].empty()) caches.history = type_of(options["--history"]);
  return caches;
}

// A text and its window.
struct Text {
  std::unique_ptr<CrossCache> source;
  std::unique_ptr<History> history;
};

// Random values take long to generate, so all windows are the same one, shifted by some positions.
std::vector<Text> make_texts(Decoder& decoder, RandomDecoder& random, std::size_t count, std::size_t positions) {
  const auto rows = random.source(positions + count);
  const std::size_t row = 2 * random.shape().width;
  std::vector<Text> texts(count);
  for (std::size_t i = 0; i < count; ++i) {
    texts[i].source = decoder.make_cross_cache(positions);
    for (std::size_t layer = 0; layer < random.shape().layers; ++layer)
      texts[i].source->write(layer, 0, std::span(rows).subspan(i * row, positions * row));
  }
  return texts;
}

// Milliseconds of each step for texts that are decoded to their end.
std::vector<double> time_steps(Decoder& decoder, std::vector<Text>& texts, int steps, int threads) {
  std::vector<DecoderInput> rows;
  for (Text& text : texts) {
    text.history = decoder.make_history();
    rows.push_back({1, text.history.get(), text.source.get()});
  }
  std::vector<double> times;
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].token = static_cast<TokenId>(i + 7 * times.size());
    times.push_back(cost_of([&] {
                      decoder.step(
                          rows, [](std::size_t, std::span<float>) {}, threads, nullptr, nullptr);
                    }).wall_ms);
  }
  return times;
}

void measure(const Options& options, RandomDecoder& random, Decoder& decoder, ComputeType type, int rows) {
  const CacheTypes caches = caches_of(options, type);
  auto texts = make_texts(decoder, random, static_cast<std::size_t>(rows), size_of(options, "--positions"));
  std::vector<double> medians, all;
  for (int i = 0; i < integer(options["--repeats"], 1); ++i) {
    const auto times = time_steps(decoder, texts, integer(options["--steps"], 1), integer(options["--threads"], 1));
    medians.push_back(median(times));
    all.insert(all.end(), times.begin(), times.end());
  }
  std::printf(
      R"({"compute":"%s","cross":"%s","history":"%s","kernels":"%s","threads":%s,"rows":%d,"step_ms_median":%.3f,)"
      R"("step_ms_best_median":%.3f,"step_ms_min":%.3f,"token_ms":%.3f,"mib_a_row":%.2f})"
      "\n",
      std::string(compute_type_name(type)).c_str(), std::string(compute_type_name(caches.cross)).c_str(),
      std::string(compute_type_name(caches.history)).c_str(),
      options[options["--graphs"].empty() ? "--kernels" : "--graphs"].c_str(), options["--threads"].c_str(), rows,
      median(all), least(medians), least(all), least(medians) / rows,
      static_cast<double>(texts.front().source->memory_bytes() + texts.front().history->memory_bytes()) / (1 << 20));
  std::fflush(stdout);
}

void measure_kernels(const Options& options, RandomDecoder& random, ComputeType type) {
  if (type == ComputeType::kFloat16) throw std::invalid_argument("float16 is for --graphs");
  const CpuWeights weights(random.model(), type);
  for (const int rows : positive_integers(options["--rows"])) {
    const auto decoder =
        make_cpu_decoder(random.model(), weights, caches_of(options, type), kernels_of(options["--kernels"]));
    measure(options, random, *decoder, type, rows);
  }
}

void measure_graphs(const Options& options, RandomDecoder& random, ComputeType type) {
  const ggml_backend_dev_t device = verbatim::open_backend_device(options["--graphs"], type == ComputeType::kFloat32);
  const GpuWeights weights(random.model(), type, device);
  for (const int rows : positive_integers(options["--rows"])) {
    const auto decoder = make_gpu_decoder(random.model(), weights, caches_of(options, type), device);
    measure(options, random, *decoder, type, rows);
  }
}

void run(const std::vector<std::string>& words) {
  const Options options = parse(words);
  RandomDecoder random({.layers = size_of(options, "--layers"),
                        .width = size_of(options, "--width"),
                        .heads = size_of(options, "--heads"),
                        .inner = size_of(options, "--inner"),
                        .vocabulary = size_of(options, "--vocabulary"),
                        .positions = std::max<std::size_t>(448, size_of(options, "--steps"))});
  for (const std::string& name : words_of_list(options["--compute"])) {
    const ComputeType type = type_of(name);
    options["--graphs"].empty() ? measure_kernels(options, random, type) : measure_graphs(options, random, type);
  }
}

}  // namespace

int main(int count, char** values) { return run_program(count, values, run); }

// Measures one window of 30 s of noise alone, in the batched decoder, on a model that make_model wrote. Prints
// Markdown.
//
//   window_bench [--compute int8] [--lanes 2] [--rounds 9] [--seconds 30] MODEL
//
// - The first table: lanes of one thread, without the help of idle lanes, with help of the encoder, and of the batch as
//   well, in turns. Medians; ratios are of neighbouring runs, median and range.
// - The second: the parts of the window on one thread, by the clock. Alignment is the difference to a run with word
//   times, in turns.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "audio/sample_rate.h"
#include "measure.h"
#include "options.h"
#include "program.h"
#include "speech/load_recogniser.h"
#include "speech/random_models/noise.h"
#include "testing/window_runner.h"

namespace {

using namespace verbatim;
using namespace verbatim::bench;

struct Run {
  Cost cost;
  Timings timings;
};

class Alone {
 public:
  Alone(const Recogniser& recogniser, const test::RunnerOptions& options, std::shared_ptr<const Window> window)
      : runner_(recogniser, options), window_(std::move(window)) {}

  Run run(bool align) {
    DecodeOptions options;
    options.language = "en";
    options.temperature_increment = 0.0f;
    options.own_length = window_->samples.size() < 30 * std::size_t{kSampleRate};
    options.align = align;
    Run done;
    done.cost = cost_of([&] { done.timings = runner_.transcribe(window_, options).timings; });
    return done;
  }

 private:
  test::WindowRunner runner_;
  std::shared_ptr<const Window> window_;
};

template <typename Value>
double median_of(const std::vector<Run>& runs, const Value& value) {
  std::vector<double> values;
  for (const Run& run : runs) values.push_back(value(run));
  return median(values);
}

double wall(const Run& run) { return run.cost.wall_ms; }
double cpu(const Run& run) { return run.cost.cpu_ms; }
double mel(const Run& run) { return run.timings.mel_ms; }
double encode(const Run& run) { return run.timings.encode_ms; }
double decode(const Run& run) { return run.timings.decode_ms; }

std::string ratio(std::span<const Run> before, std::span<const Run> after) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < before.size(); ++i) ratios.push_back(wall(before[i]) / wall(after[i]));
  char text[64];
  std::snprintf(text, sizeof(text), "%.2f (%.2f-%.2f)", median(ratios), least(ratios), most(ratios));
  return text;
}

void print_row(const char* name, const std::vector<Run>& runs, const std::string& gain) {
  std::printf("| %s | %.0f | %.0f | %.1f | %.0f | %.0f | %s |\n", name, median_of(runs, wall), median_of(runs, cpu),
              median_of(runs, mel), median_of(runs, encode), median_of(runs, decode), gain.c_str());
}

void print_part(const char* name, double part, double whole) {
  std::printf("| %s | %.1f | %.1f |\n", name, part, 100.0 * part / whole);
}

void run(const std::vector<std::string>& words) {
  const Options options({.defaults = {{"--compute", "int8"}, {"--lanes", "2"}, {"--rounds", "9"}, {"--seconds", "30"}},
                         .most_operands = 1},
                        words);
  if (options.operands().empty()) throw std::invalid_argument("MODEL is missing");
  const auto recogniser = load_recogniser(options.operands()[0], "cpu", AcceleratorMode::kAuto, options["--compute"]);
  auto window = std::make_shared<Window>();
  const auto samples = static_cast<std::size_t>(integer(options["--seconds"], 1)) * kSampleRate;
  window->samples = random_models::noise(samples, 1);
  const int lanes = integer(options["--lanes"], 1);
  Alone plain(*recogniser, {.lanes = lanes, .helps_encoder = false}, window);
  Alone encoder(*recogniser, {.lanes = lanes}, window);
  Alone all(*recogniser, {.lanes = lanes, .helps_batch = true}, window);
  // The first touches memory.
  for (Alone* const one : {&plain, &encoder, &all}) one->run(false);
  std::vector<Run> alone, with_help, with_all, aligned;
  for (int left = integer(options["--rounds"], 1); left > 0; --left) {
    alone.push_back(plain.run(false));
    with_help.push_back(encoder.run(false));
    with_all.push_back(all.run(false));
    aligned.push_back(plain.run(true));
  }
  std::printf(
      "| window alone, %s | ms | processor ms | mel | encoder | decoder | faster |\n|---|--:|--:|--:|--:|--:|--:|\n",
      options["--compute"].c_str());
  print_row("its lane's thread", alone, "1");
  print_row("encoder helped", with_help, ratio(alone, with_help));
  print_row("encoder and batch helped", with_all, ratio(alone, with_all));
  std::vector<double> alignment;
  for (std::size_t i = 0; i < alone.size(); ++i) alignment.push_back(decode(aligned[i]) - decode(alone[i]));
  const double parts[] = {median_of(alone, mel), median_of(alone, encode), median_of(alone, decode), median(alignment)};
  const double whole = parts[0] + parts[1] + parts[2] + parts[3];
  std::printf("\n| part, one thread | ms | %% |\n|---|--:|--:|\n");
  print_part("features", parts[0], whole);
  print_part("encoder", parts[1], whole);
  print_part("decoder", parts[2], whole);
  print_part("alignment", parts[3], whole);
}

}  // namespace

int main(int count, char** values) {
  sleep_while_waiting(values);
  return run_program(count, values, run);
}

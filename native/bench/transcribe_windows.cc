// Runs audio files through the engine, each as one window, and prints one JSON object per line, in the order of the
// files. `verbatim bench parity` compares the output with whisper.cpp's command line. Run by hand, it shows how a
// window's time is spent.
//
//   transcribe_windows MODEL [--device cpu] [--language auto] [--beam-size 1] [--threads 1] [--own-length]
//   [--accelerator off|float32|auto] [--decoder whisper.cpp|batched] [--compute auto] [--in-flight 8]
//   [--plain] [--explain] [--words] FILE...
//
// - --decoder: "whisper.cpp" decodes all files in one slot; "batched" has --in-flight windows at a time and computes
//   with --compute.
// - --plain: temperature 0 without fall-back, and no window counts as silent.
// - --explain: report how each token was chosen (batched).
// - --words: report word times.
//
// A Parakeet model needs --decoder whisper.cpp and a language.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "audio/cutting/read_whole.h"
#include "options.h"
#include "program.h"
#include "speech/decode_options.h"
#include "speech/load_recogniser.h"
#include "speech/load_slot_model.h"
#include "testing/window_runner.h"

namespace {

using namespace verbatim;
using namespace verbatim::bench;

Options parse(const std::vector<std::string>& words) {
  const Options options({.defaults = {{"--device", "cpu"},
                                      {"--language", "auto"},
                                      {"--beam-size", "1"},
                                      {"--threads", "1"},
                                      {"--accelerator", "off"},
                                      {"--decoder", "whisper.cpp"},
                                      {"--compute", "auto"},
                                      {"--in-flight", "8"}},
                         .flags = {"--own-length", "--plain", "--explain", "--words"},
                         .most_operands = std::numeric_limits<std::size_t>::max()},
                        words);
  if (options.operands().size() < 2) {
    throw std::invalid_argument("usage: transcribe_windows MODEL [options] FILE...");
  }
  const std::string& decoder = options["--decoder"];
  if (decoder != "whisper.cpp" && decoder != "batched") {
    throw std::invalid_argument("--decoder is \"" + decoder + "\"; allowed: whisper.cpp, batched");
  }
  return options;
}

DecodeOptions decode_options(const Options& options) {
  DecodeOptions decode;
  decode.language = options["--language"];
  decode.beam_size = integer(options["--beam-size"], 1);
  decode.own_length = options.has_flag("--own-length");
  decode.explain = options.has_flag("--explain");
  decode.align = options.has_flag("--words");
  if (options.has_flag("--plain")) {
    decode.temperature_increment = 0.0f;
    decode.no_speech_threshold = 1.0f;
  }
  return decode;
}

// Nats between the likeliest language and the next; null if the language was given.
nlohmann::json language_margin(const WindowResult& result) {
  std::vector<float> probabilities;
  for (const auto& [code, probability] : result.language_probabilities) probabilities.push_back(probability);
  if (probabilities.size() < 2) return nullptr;
  std::partial_sort(probabilities.begin(), probabilities.begin() + 2, probabilities.end(), std::greater<>());
  return std::log(probabilities[0] / probabilities[1]);
}

nlohmann::json describe(const TokenChoice& choice) {
  return {{"id", choice.id},
          {"logProbability", choice.log_probability},
          {"runnerUp", choice.runner_up},
          {"runnerUpLogProbability", choice.runner_up_log_probability},
          {"timeStampLead", choice.time_stamp_lead},
          {"margin", choice.margin}};
}

nlohmann::json describe(const Word& word) {
  return {
      {"text", word.text}, {"start", word.start_seconds}, {"end", word.end_seconds}, {"probability", word.probability}};
}

nlohmann::json describe(const std::string& file, const Window& window, const DecodeOptions& options,
                        const WindowResult& result) {
  std::string text;
  nlohmann::json tokens = nlohmann::json::array();
  nlohmann::json choices = nlohmann::json::array();
  nlohmann::json spoken = nlohmann::json::array();
  for (const Segment& segment : result.segments) {
    text += segment.text;
    for (const Token& token : segment.tokens) tokens.push_back({token.id, token.probability});
    for (const TokenChoice& choice : segment.choices) choices.push_back(describe(choice));
    for (const Word& word : segment.words) spoken.push_back(describe(word));
  }
  const Timings& timings = result.timings;
  return {{"file", file},
          {"seconds", window.end_seconds()},
          {"audioContext", audio_context(window.samples.size(), options)},
          {"language", result.language},
          {"text", text},
          {"tokens", tokens},
          {"choices", choices},
          {"words", spoken},
          {"languageMargin", language_margin(result)},
          {"fallbacks", timings.fallbacks},
          {"melMs", timings.mel_ms},
          {"encodeMs", timings.encode_ms},
          {"decodeMs", timings.decode_ms}};
}

using Print = std::function<void(const std::string& file, const Window&, const WindowResult&)>;

void through_slot(const Options& options, const DecodeOptions& decode, std::span<const std::string> files,
                  const Print& print) {
  const auto model =
      load_slot_model(options.operands().front(), options["--device"], accelerator_mode(options["--accelerator"]));
  const auto slot = model->make_slot(integer(options["--threads"], 1));
  for (const std::string& file : files) {
    const Window window = read_whole(file);
    print(file, window, slot->transcribe(window, decode, nullptr));
  }
}

void through_batch(const Options& options, const DecodeOptions& decode, std::span<const std::string> files,
                   const Print& print) {
  struct Started {
    std::string file;
    std::shared_ptr<const Window> window;
    std::shared_ptr<WindowInFlight> in_flight;
  };
  const auto recogniser = load_recogniser(options.operands().front(), options["--device"],
                                          accelerator_mode(options["--accelerator"]), options["--compute"]);
  test::WindowRunner runner(*recogniser, {.lanes = 1, .threads = integer(options["--threads"], 1)});
  const auto most = static_cast<std::size_t>(integer(options["--in-flight"], 1));
  std::deque<Started> started;
  const auto finish_first = [&] {
    const Started first = std::move(started.front());
    started.pop_front();
    print(first.file, *first.window, runner.finish(*first.in_flight));
  };
  for (const std::string& file : files) {
    if (started.size() == most) finish_first();
    auto window = std::make_shared<const Window>(read_whole(file));
    auto in_flight = runner.start(window, decode);
    started.push_back({file, std::move(window), std::move(in_flight)});
  }
  while (!started.empty()) finish_first();
}

void run(const std::vector<std::string>& words) {
  const Options options = parse(words);
  const DecodeOptions decode = decode_options(options);
  const auto files = std::span(options.operands()).subspan(1);
  const Print print = [&](const std::string& file, const Window& window, const WindowResult& result) {
    std::cout << describe(file, window, decode, result).dump() << std::endl;
  };
  (options["--decoder"] == "batched" ? through_batch : through_slot)(options, decode, files, print);
}

}  // namespace

int main(int count, char** values) { return run_program(count, values, run); }

// Runs audio files through one slot, each file as one window, and prints a JSON object a line.
// `verbatim bench parity` holds the output against whisper.cpp's own command line; run by hand it shows where
// a window's time goes.
//
//   transcribe_windows MODEL [--device cpu] [--language auto] [--beam-size 1] [--threads 1] [--own-length]
//   [--accelerator off|float32|auto] FILE...
#include <cstddef>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "audio/cutting/read_whole.h"
#include "options.h"
#include "program.h"
#include "speech/decode_options.h"
#include "speech/whisper_cpp/slot.h"

namespace {

using namespace verbatim;
using namespace verbatim::bench;

Options parse(const std::vector<std::string>& words) {
  const Options options({.defaults = {{"--device", "cpu"},
                                      {"--language", "auto"},
                                      {"--beam-size", "1"},
                                      {"--threads", "1"},
                                      {"--accelerator", "off"}},
                         .flags = {"--own-length"},
                         .most_operands = std::numeric_limits<std::size_t>::max()},
                        words);
  if (options.operands().size() < 2) {
    throw std::invalid_argument("usage: transcribe_windows MODEL [options] FILE...");
  }
  return options;
}

DecodeOptions decode_options(const Options& options) {
  DecodeOptions decode;
  decode.language = options["--language"];
  decode.beam_size = integer(options["--beam-size"], 1);
  decode.own_length = options.has_flag("--own-length");
  return decode;
}

nlohmann::json describe(const std::string& file, const Window& window, const DecodeOptions& options,
                        const WindowResult& result) {
  std::string text;
  nlohmann::json tokens = nlohmann::json::array();
  for (const Segment& segment : result.segments) {
    text += segment.text;
    for (const Token& token : segment.tokens) tokens.push_back({token.id, token.probability});
  }
  const Timings& timings = result.timings;
  return {{"file", file},
          {"seconds", window.end_seconds()},
          {"audioContext", audio_context(window.samples.size(), options)},
          {"language", result.language},
          {"text", text},
          {"tokens", tokens},
          {"encoderPasses", timings.encoder_passes},
          {"fallbacks", timings.fallbacks},
          {"melMs", timings.mel_ms},
          {"encodeMs", timings.encode_ms},
          {"decodeMs", timings.decode_ms}};
}

void run(const std::vector<std::string>& words) {
  const Options options = parse(words);
  const std::string& model = options.operands().front();
  Slot slot(SpeechModel::load(model, options["--device"], accelerator_mode(options["--accelerator"])),
            integer(options["--threads"], 1));
  const DecodeOptions decode = decode_options(options);
  for (const std::string& file : std::span(options.operands()).subspan(1)) {
    const Window window = read_whole(file);
    std::cout << describe(file, window, decode, slot.transcribe(window, decode, nullptr)).dump() << std::endl;
  }
}

}  // namespace

int main(int count, char** values) { return run_program(count, values, run); }

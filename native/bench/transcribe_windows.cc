// Runs audio files through one slot, each file as one window, and prints a JSON object a line.
// bench/parity.ts holds the output against whisper.cpp's own command line; run by hand it shows where a
// window's time goes.
//
//   transcribe_windows MODEL [--device cpu] [--language auto] [--beam-size 1] [--threads 1] [--own-length]
//   [--acceleration off|float32|auto] FILE...
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "audio/reader.h"
#include "speech/decode_options.h"
#include "speech/slot.h"

namespace {

using namespace verbatim;

struct Arguments {
  std::string model;
  std::string device = "cpu";
  int threads = 1;
  Acceleration acceleration = Acceleration::kOff;
  DecodeOptions options;
  std::vector<std::string> files;
};

Acceleration acceleration(const std::string& word) {
  if (word == "auto") return Acceleration::kAuto;
  if (word == "float32") return Acceleration::kFloat32;
  if (word == "off") return Acceleration::kOff;
  throw std::invalid_argument("--acceleration is auto, float32 or off");
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--own-length") {
      arguments.options.own_length = true;
    } else if (word.starts_with("--")) {
      if (++i == words.size()) throw std::invalid_argument(word + " needs a value");
      if (word == "--device")
        arguments.device = words[i];
      else if (word == "--language")
        arguments.options.language = words[i];
      else if (word == "--beam-size")
        arguments.options.beam_size = std::stoi(words[i]);
      else if (word == "--threads")
        arguments.threads = std::stoi(words[i]);
      else if (word == "--acceleration")
        arguments.acceleration = acceleration(words[i]);
      else
        throw std::invalid_argument("unknown option " + word);
    } else if (arguments.model.empty()) {
      arguments.model = word;
    } else {
      arguments.files.push_back(word);
    }
  }
  if (arguments.files.empty())
    throw std::invalid_argument("usage: transcribe_windows MODEL [options] FILE...");
  return arguments;
}

Window whole_file(const std::string& path) {
  AudioReader reader(path);
  Window window;
  std::vector<float> block(kSampleRate);
  while (const std::size_t count = reader.read(block)) {
    window.samples.insert(window.samples.end(), block.begin(),
                          block.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return window;
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

void run(const Arguments& arguments) {
  Slot slot(SpeechModel::load(arguments.model, arguments.device, arguments.acceleration), arguments.threads);
  for (const std::string& file : arguments.files) {
    const Window window = whole_file(file);
    std::cout << describe(file, window, arguments.options,
                          slot.transcribe(window, arguments.options, nullptr))
                     .dump()
              << std::endl;
  }
}

}  // namespace

int main(int count, char** values) {
  try {
    run(parse({values + 1, values + count}));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}

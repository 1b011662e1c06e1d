#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "speech/decode.h"
#include "speech/whisper/logits_script.h"
#include "speech/whisper/window_decoding.h"
#include "speech/whisper_cpp/model.h"

namespace verbatim::test {

// One window decoded from a script's logits.
struct ScriptedWindow {
  std::uint64_t seed = 0;
  ScriptStyle style;
  DecodeOptions options;
  std::vector<whisper::TokenId> initial_prompt;
  // Hundredths of a second.
  int length = 0;
};

struct ScriptedResult {
  std::vector<whisper::DecodedSegment> segments;
  int passes = 0;
  int fallbacks = 0;
};

// whisper.cpp under a script. Its model is a tiny one whose own logits are the same in every row, by which
// the temperature of a row is known; the script is put in their place where whisper.cpp has suppressed what
// it suppresses and is about to apply the rules of time stamps.
class ScriptedWhisperCpp {
 public:
  // vocabulary: 51864 to 51866; layers: of the decoder.
  ScriptedWhisperCpp(int vocabulary, int layers);

  const whisper::DecodingModel& model() const noexcept { return decoding_; }
  ScriptedResult run(const ScriptedWindow& window) const;
  // The script as run() has it.
  LogitsScript script(const ScriptedWindow& window) const;

 private:
  std::shared_ptr<const SpeechModel> speech_;
  whisper::DecodingModel decoding_;
  // Its own logits, of every row.
  std::vector<float> logits_;
};

// Our machine under the same script; keeps every history as the requests say, and checks them.
ScriptedResult run_window_decoding(const ScriptedWhisperCpp& reference, const ScriptedWindow& window);

}  // namespace verbatim::test

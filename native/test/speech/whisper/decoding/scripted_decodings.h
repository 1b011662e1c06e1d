#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "speech/decode.h"
#include "speech/whisper/decoding/logits_script.h"
#include "speech/whisper/decoding/window_decoding.h"
#include "speech/whisper_cpp/model.h"

namespace verbatim::test {

// One window decoded from a script's logits.
struct ScriptedWindow {
  std::uint64_t seed = 0;
  ScriptStyle style;
  DecodeOptions options;
  std::vector<whisper::TokenId> initial_prompt;
  // The tokens that every text begins with; not for whisper.cpp.
  std::vector<whisper::TokenId> prefix;
  // Hundredths of a second.
  int length = 0;
};

struct ScriptedResult {
  std::vector<whisper::DecodedSegment> segments;
  int passes = 0;
  int fallbacks = 0;
};

// whisper.cpp under a script. Its tiny model has the same logits in every row, which shows the temperature of a row.
// The script replaces them after whisper.cpp has suppressed tokens and before it applies the rules of time stamps.
class ScriptedWhisperCpp {
 public:
  // vocabulary: 51864 to 51866. layers: layers of the decoder.
  ScriptedWhisperCpp(int vocabulary, int layers);

  const whisper::DecodingModel& model() const noexcept { return decoding_; }
  ScriptedResult run(const ScriptedWindow& window) const;
  // The script that run() uses.
  LogitsScript script(const ScriptedWindow& window) const;

 private:
  std::shared_ptr<const SpeechModel> speech_;
  whisper::DecodingModel decoding_;
  // Its own logits, the same in every row.
  std::vector<float> logits_;
};

// WindowDecoding under the same script. Keeps every history as the requests define it, and checks the requests.
ScriptedResult run_window_decoding(const ScriptedWhisperCpp& reference, const ScriptedWindow& window);

}  // namespace verbatim::test

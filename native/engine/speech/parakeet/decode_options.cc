#include "speech/parakeet/decode_options.h"

#include <string>
#include <string_view>

#include "error.h"

namespace verbatim::parakeet {
namespace {

void require(bool allowed, std::string_view option, const std::string& value, std::string_view only) {
  if (allowed) return;
  throw EngineError(ErrorCode::kInvalidArgument,
                    std::string(option) + " is " + value + ", allowed for a Parakeet model: " + std::string(only));
}

}  // namespace

void check_decode_options(const DecodeOptions& options) {
  if (options.language.empty() || options.language == "auto") {
    throw EngineError(ErrorCode::kUnsupportedLanguage,
                      "language is auto, and a Parakeet model does not detect which language is spoken: name one");
  }
  require(options.task == SpeechTask::kTranscribe, "task", "translate", "transcribe");
  require(options.beam_size == 1, "beam_size", std::to_string(options.beam_size), "1");
  require(options.temperature == 0.0f, "temperature", std::to_string(options.temperature), "0");
  require(options.max_tokens == 0, "max_tokens", std::to_string(options.max_tokens), "0");
  require(options.initial_prompt.empty(), "initial_prompt",
          std::to_string(options.initial_prompt.size()) + " bytes long", "none");
  require(options.prefix.text.empty(), "prefix", std::to_string(options.prefix.text.size()) + " bytes long", "none");
}

}  // namespace verbatim::parakeet

#include "speech/decode_options.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "audio/sample_rate.h"
#include "error.h"

namespace verbatim {
namespace {

constexpr int kMaxBeams = 8;  // whisper.cpp's WHISPER_MAX_DECODERS
constexpr int kSamplesPerPosition = kSampleRate / 50;

[[noreturn]] void refuse(std::string_view option, const std::string& value, std::string_view allowed) {
  throw EngineError(ErrorCode::kInvalidArgument,
                    std::string(option) + " is " + value + ", allowed: " + std::string(allowed));
}

void check_integer(std::string_view option, int value, int low, int high) {
  if (value >= low && value <= high) return;
  refuse(option, std::to_string(value), std::to_string(low) + " to " + std::to_string(high));
}

void check_fraction(std::string_view option, float value) {
  if (value >= 0.0f && value <= 1.0f) return;
  refuse(option, std::to_string(value), "0 to 1");
}

void check_finite(std::string_view option, float value) {
  if (std::isfinite(value)) return;
  refuse(option, std::to_string(value), "any finite number");
}

void check_prefix(const DecodeOptions& options, const SpeechModelInfo& model) {
  const std::size_t bytes = options.prefix.text.size();
  if (bytes == 0) return;
  const std::string given = std::to_string(bytes) + " bytes long";
  if (!model.abilities.takes_prefix) refuse("prefix", given, "none, since this decoder takes no prefix");
  if (bytes > kMaxPrefixBytes) refuse("prefix", given, "at most " + std::to_string(kMaxPrefixBytes));
  if (options.max_tokens > 0) refuse("max_tokens", std::to_string(options.max_tokens), "0 with a prefix");
}

}  // namespace

int language_id(const SpeechModelInfo& model, const std::string& code) {
  const auto found = std::find(model.languages.begin(), model.languages.end(), code);
  return found == model.languages.end() ? -1 : static_cast<int>(found - model.languages.begin());
}

void check_decode_options(const DecodeOptions& options, const SpeechModelInfo& model) {
  check_integer("beam_size", options.beam_size, 1, kMaxBeams);
  check_integer("best_of", options.best_of, 1, kMaxBeams);
  check_fraction("temperature", options.temperature);
  check_fraction("temperature_increment", options.temperature_increment);
  check_finite("no_speech_threshold", options.no_speech_threshold);
  check_finite("log_prob_threshold", options.log_prob_threshold);
  check_finite("entropy_threshold", options.entropy_threshold);
  check_integer("max_tokens", options.max_tokens, 0, 448);
  if (options.initial_prompt.size() > kMaxPromptBytes) {
    refuse("initial_prompt", std::to_string(options.initial_prompt.size()) + " bytes long",
           "at most " + std::to_string(kMaxPromptBytes));
  }
  check_prefix(options, model);
  if (options.language != "auto" && language_id(model, options.language) < 0) {
    throw EngineError(ErrorCode::kUnsupportedLanguage,
                      "the model does not know the language \"" + options.language + "\"");
  }
}

int audio_context(std::size_t samples, const DecodeOptions& options) {
  if (!options.own_length) return 0;
  const auto positions = static_cast<int>(
      std::min<std::size_t>(samples / kSamplesPerPosition + 1, static_cast<std::size_t>(kFullAudioContext)));
  const int steps = (positions + kOwnLengthMargin + kOwnLengthStep - 1) / kOwnLengthStep;
  return std::min(steps * kOwnLengthStep, kFullAudioContext);
}

}  // namespace verbatim

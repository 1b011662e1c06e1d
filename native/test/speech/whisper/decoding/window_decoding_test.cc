#include "speech/whisper/decoding/window_decoding.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "speech/whisper/decoding/scripted_decodings.h"

// Whisper's rules as in whisper.cpp: both decode the same random logits, and every token, probability and time must be
// equal.
namespace verbatim {
namespace {

using test::ScriptedResult;
using test::ScriptedWhisperCpp;
using test::ScriptedWindow;

// A random window. The test sets what all windows of a group have in common.
ScriptedWindow random_window(std::mt19937& random) {
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
  ScriptedWindow window;
  window.seed = random();
  window.length = below(3) == 0 ? 11 + below(300) : 11 + below(2989);
  window.options.language = "en";
  window.style.pool = below(3) == 0 ? 5 + below(5) : 2000;
  window.style.end_of_text = below(4) == 0 ? 0.01f : 0.1f;
  window.style.time_stamps = 0.1f * static_cast<float>(below(6));
  window.style.low = static_cast<float>(6 + below(4));
  window.style.high = window.style.low + static_cast<float>(1 + below(8));
  for (int i = below(4) == 0 ? below(400) : 0; i > 0; --i) window.initial_prompt.push_back(below(50000));
  return window;
}

bool is_close(float a, float b) { return std::abs(a - b) <= 1e-4f * std::max(1.0f, std::abs(b)); }

std::string describe(const ScriptedResult& result) {
  std::string text = std::to_string(result.passes) + " passes, " + std::to_string(result.fallbacks) + " fall-backs";
  for (const whisper::DecodedSegment& segment : result.segments) {
    text += "\n" + std::to_string(segment.start) + " to " + std::to_string(segment.end) + ":";
    for (const whisper::DecodedToken& token : segment.tokens) {
      text += " " + std::to_string(token.id) + "@" + std::to_string(token.log_probability);
    }
  }
  return text;
}

bool is_same(const whisper::DecodedSegment& a, const whisper::DecodedSegment& b) {
  if (a.start != b.start || a.end != b.end || a.tokens.size() != b.tokens.size()) return false;
  if (!is_close(a.no_speech_probability, b.no_speech_probability)) return false;
  for (std::size_t i = 0; i < a.tokens.size(); ++i) {
    if (a.tokens[i].id != b.tokens[i].id || !is_close(a.tokens[i].probability, b.tokens[i].probability) ||
        !is_close(a.tokens[i].log_probability, b.tokens[i].log_probability)) {
      return false;
    }
  }
  return true;
}

bool is_same(const ScriptedResult& a, const ScriptedResult& b) {
  if (a.passes != b.passes || a.fallbacks != b.fallbacks || a.segments.size() != b.segments.size()) return false;
  for (std::size_t i = 0; i < a.segments.size(); ++i) {
    if (!is_same(a.segments[i], b.segments[i])) return false;
  }
  return true;
}

struct Tally {
  int different = 0;
  int tokens = 0;
  int passes = 0;
  int fallbacks = 0;
};

constexpr int kShown = 3;

template <typename Change>
Tally compare(const ScriptedWhisperCpp& reference, int windows, unsigned seed, Change change) {
  std::mt19937 random(seed);
  Tally tally;
  for (int i = 0; i < windows; ++i) {
    ScriptedWindow window = random_window(random);
    change(window.options, random);
    const ScriptedResult expected = reference.run(window);
    const ScriptedResult actual = test::run_window_decoding(reference, window);
    for (const auto& segment : expected.segments) tally.tokens += static_cast<int>(segment.tokens.size());
    tally.passes += expected.passes;
    tally.fallbacks += expected.fallbacks;
    if (is_same(actual, expected) || ++tally.different > kShown) continue;
    MESSAGE("window " << i << "\nours: " << describe(actual) << "\nwhisper.cpp: " << describe(expected));
  }
  return tally;
}

void without_fallback(DecodeOptions& options, std::mt19937&) { options.temperature_increment = 0.0f; }

int number(std::mt19937& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
}

float fraction(std::mt19937& random, float low, float high) {
  return low + (high - low) * static_cast<float>(number(random, 0, 1000)) / 1000.0f;
}

void with_thresholds(DecodeOptions& options, std::mt19937& random) {
  options.log_prob_threshold = fraction(random, -2.0f, 0.0f);
  options.entropy_threshold = fraction(random, 1.0f, 3.2f);
  options.no_speech_threshold = fraction(random, 0.0f, 1.0f);
}

TEST_CASE("scripted decoding: greedy, as whisper.cpp" * doctest::test_suite("long")) {
  const ScriptedWhisperCpp reference(51865, 1);
  CHECK(compare(reference, 50, 1, without_fallback).different == 0);
}

TEST_CASE("scripted decoding: greedy with thresholds and fall-backs, as whisper.cpp") {
  const ScriptedWhisperCpp reference(51865, 1);
  const Tally tally = compare(reference, 50, 2, [](DecodeOptions& options, std::mt19937& random) {
    with_thresholds(options, random);
    options.best_of = number(random, 1, 5);
    options.temperature_increment = fraction(random, 0.1f, 1.0f);
    if (number(random, 0, 3) == 0) options.max_tokens = number(random, 1, 20);
  });
  CHECK(tally.different == 0);
}

TEST_CASE("scripted decoding: candidates at a temperature, as whisper.cpp" * doctest::test_suite("long")) {
  const ScriptedWhisperCpp reference(51865, 1);
  const Tally tally = compare(reference, 50, 3, [](DecodeOptions& options, std::mt19937& random) {
    with_thresholds(options, random);
    options.best_of = number(random, 1, 5);
    options.temperature = fraction(random, 0.0f, 1.0f);
    options.temperature_increment = number(random, 0, 1) == 0 ? 0.0f : 0.4f;
  });
  CHECK(tally.different == 0);
}

TEST_CASE("scripted decoding: beams, as whisper.cpp" * doctest::test_suite("long")) {
  const ScriptedWhisperCpp reference(51865, 1);
  const Tally tally = compare(reference, 40, 4, [](DecodeOptions& options, std::mt19937& random) {
    with_thresholds(options, random);
    options.beam_size = number(random, 2, 8);
    options.best_of = number(random, 1, 8);
    options.temperature_increment = number(random, 0, 1) == 0 ? 0.0f : 0.5f;
    if (number(random, 0, 3) == 0) options.max_tokens = number(random, 1, 20);
  });
  CHECK(tally.different == 0);
}

TEST_CASE("scripted decoding: models for English only, distilled ones and large ones, as whisper.cpp" *
          doctest::test_suite("long")) {
  for (const auto& [vocabulary, layers] : {std::pair{51864, 1}, {51864, 2}, {51865, 2}, {51866, 2}}) {
    const ScriptedWhisperCpp reference(vocabulary, layers);
    const Tally tally = compare(reference, 20, 5, [](DecodeOptions& options, std::mt19937& random) {
      with_thresholds(options, random);
      options.task = number(random, 0, 1) == 0 ? SpeechTask::kTranslate : SpeechTask::kTranscribe;
      options.temperature_increment = number(random, 0, 1) == 0 ? 0.0f : 0.5f;
      if (number(random, 0, 2) == 0) options.beam_size = 3;
      if (number(random, 0, 3) == 0) options.max_tokens = number(random, 1, 20);
    });
    CHECK(tally.different == 0);
  }
}

}  // namespace
}  // namespace verbatim

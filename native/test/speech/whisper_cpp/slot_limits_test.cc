// A slot at the limits of its options, its refusals, and its memory.
#include <doctest/doctest.h>
#include <ggml.h>
#include <whisper.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "error.h"
#include "speech/support.h"
#include "speech/utf8.h"
#include "speech/whisper_cpp/prompt.h"
#include "speech/whisper_cpp/slot.h"

namespace verbatim {
namespace {

using test::bundled_model;
using test::text_of;
using test::window_of;

DecodeOptions own_length(const std::string& language = "auto") {
  DecodeOptions options;
  options.language = language;
  options.own_length = true;
  return options;
}

EngineError failure(const DecodeOptions& options, const Window& window = test::silence(0.5)) {
  try {
    Slot(bundled_model(), 1).transcribe(window, options, nullptr);
  } catch (const EngineError& error) {
    return error;
  }
  return {ErrorCode::kInternalError, "nothing was thrown"};
}

}  // namespace

TEST_CASE("every language of the model has its own prompt, and can be asked for") {
  const auto& languages = bundled_model()->info().languages;
  whisper_context* context = bundled_model()->context();
  REQUIRE(languages.size() >= 99);
  Slot slot(bundled_model(), 1);
  Window word = window_of("seen1-de-07.flac");
  word.samples.resize(kSampleRate / 2);
  for (std::size_t id = 0; id < languages.size(); ++id) {
    CAPTURE(languages[id]);
    DecodeOptions options = own_length(languages[id]);
    CHECK(whisper_lang_id(languages[id].c_str()) == static_cast<int>(id));
    CHECK(first_prompt(context, {}, static_cast<int>(id), options)[1] ==
          whisper_token_sot(context) + 1 + static_cast<int>(id));
    if (id % 12 != 2) continue;
    options.max_tokens = 2;
    options.temperature_increment = 0.0f;
    const WindowResult result = slot.transcribe(word, options, nullptr);
    CHECK(result.language == languages[id]);
    CHECK(result.language_probabilities.empty());
  }
}

TEST_CASE("samples out of range do no harm") {
  Slot slot(bundled_model(), 1);
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(), 3e38f, 1e-42f}) {
    Window window = window_of("seen1-de-07.flac");
    for (std::size_t i = 0; i < window.samples.size(); i += 7) window.samples[i] = value;
    const std::string text = text_of(slot.transcribe(window, own_length(), nullptr));
    CHECK(valid_utf8(text) == text);
  }
}

TEST_CASE("max_tokens bounds a segment") {
  const auto longest = [](int max_tokens) {
    DecodeOptions options = own_length("es");
    options.max_tokens = max_tokens;
    const WindowResult result = Slot(bundled_model(), 1).transcribe(window_of("seen1-es-03.flac"), options, nullptr);
    std::size_t tokens = 0;
    for (const Segment& segment : result.segments) tokens = std::max(tokens, segment.tokens.size());
    return tokens;
  };
  CHECK(longest(0) > 4);
  // The first of the three is a time stamp.
  CHECK(longest(3) == 2);
}

TEST_CASE("options out of range are refused by name, value and range") {
  const auto check = [](const auto& change, const std::string& part) {
    DecodeOptions options;
    change(options);
    const EngineError error = failure(options);
    CAPTURE(error.what());
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    CHECK(std::string(error.what()).find(part) != std::string::npos);
  };
  check([](DecodeOptions& o) { o.beam_size = 0; }, "beam_size is 0, allowed: 1 to 8");
  check([](DecodeOptions& o) { o.best_of = 9; }, "best_of is 9, allowed: 1 to 8");
  check([](DecodeOptions& o) { o.temperature = 1.5f; }, "temperature is 1.5");
  check([](DecodeOptions& o) { o.temperature = std::nanf(""); }, "temperature is nan");
  check([](DecodeOptions& o) { o.temperature_increment = -0.1f; }, "temperature_increment is -0.1");
  check([](DecodeOptions& o) { o.entropy_threshold = INFINITY; }, "entropy_threshold is inf");
  check([](DecodeOptions& o) { o.max_tokens = -1; }, "max_tokens is -1, allowed: 0 to 448");
  check([](DecodeOptions& o) { o.initial_prompt = std::string(5000, 'a'); },
        "initial_prompt is 5000 bytes long, allowed: at most 4096");
  DecodeOptions unknown;
  unknown.language = "klingon";
  CHECK(failure(unknown).code() == ErrorCode::kUnsupportedLanguage);
  CHECK(failure(DecodeOptions{}, test::silence(30.5)).code() == ErrorCode::kInvalidArgument);
  CHECK_THROWS_AS(Slot(bundled_model(), 0), EngineError);
}

// whisper.cpp logs the size of every buffer of a state. The decoder graph's buffer has logits for every position; a
// slot uses only a few rows of it.
TEST_CASE("a slot reports its memory") {
  struct Logged {
    double caches = 0.0;
    double graphs = 0.0;
  } logged;
  bundled_model();
  ggml_log_callback callback = nullptr;
  void* user_data = nullptr;
  ggml_log_get(&callback, &user_data);
  whisper_log_set(
      [](ggml_log_level, const char* line, void* user) {
        auto& sizes = *static_cast<Logged*>(user);
        double megabytes = 0.0;
        const char* const size = std::strchr(line, '=');
        if (size == nullptr || std::sscanf(size, "= %lf MB", &megabytes) != 1) return;
        if (std::strstr(line, ": kv ") != nullptr) sizes.caches += megabytes * 1e6;
        const bool is_graph = std::strstr(line, "compute buffer") != nullptr;
        if (is_graph && std::strstr(line, "(decode)") == nullptr) sizes.graphs += megabytes * 1e6;
      },
      &logged);
  const Slot slot(bundled_model(), 1);
  whisper_log_set(callback, user_data);
  MESSAGE("caches: ", logged.caches, ", graphs: ", logged.graphs, ", known: ", slot.memory_bytes());
  REQUIRE(logged.caches > 0.0);
  REQUIRE(logged.graphs > 0.0);
  CHECK(static_cast<double>(slot.memory_bytes()) == doctest::Approx(logged.caches + logged.graphs).epsilon(0.25));
}

}  // namespace verbatim

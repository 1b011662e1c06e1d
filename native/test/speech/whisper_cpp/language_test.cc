// The language is detected within the window's own encoder pass. The reference is whisper.cpp's own detection.
#include <doctest/doctest.h>
#include <whisper.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "speech/support.h"
#include "speech/whisper_cpp/slot.h"
#include "speech/whisper_cpp/whisper_state.h"

namespace verbatim {
namespace {

using test::bundled_model;
using test::text_of;
using test::tokens_of;
using test::window_of;

std::vector<float> detected_by_whisper(const Window& window) {
  whisper_context* context = bundled_model()->context();
  const StatePointer state(whisper_init_state(context));
  const int samples = static_cast<int>(window.samples.size());
  REQUIRE(whisper_pcm_to_mel_with_state(context, state.get(), window.samples.data(), samples, 1) == 0);
  std::vector<float> probabilities(static_cast<std::size_t>(whisper_lang_max_id()) + 1);
  REQUIRE(whisper_lang_auto_detect_with_state(context, state.get(), 0, 1, probabilities.data()) >= 0);
  return probabilities;
}

WindowResult decode(const std::string& file, const DecodeOptions& options) {
  return Slot(bundled_model(), 1).transcribe(window_of(file), options, nullptr);
}

// The guess is wrong for all clips except the English ones.
WindowResult automatic(const std::string& file, DecodeOptions options = {}) {
  options.language = "auto";
  options.language_guess = "en";
  return decode(file, options);
}

void check_same_decoding(const WindowResult& actual, const WindowResult& expected) {
  CHECK(text_of(actual) == text_of(expected));
  CHECK(tokens_of(actual) == tokens_of(expected));
  CHECK(actual.language == expected.language);
}

const char* const kFiles[] = {"held1-es-04.flac", "seen1-de-01.flac", "held1-fr-03.flac", "seen1-en-06.flac"};

}  // namespace

TEST_CASE("probabilities are those of whisper.cpp's own detection, at no further encoder pass") {
  for (const char* file : {kFiles[1], kFiles[3]}) {
    CAPTURE(file);
    const WindowResult result = automatic(file);
    CHECK(result.timings.encoder_passes == 1);
    const std::vector<float> expected = detected_by_whisper(window_of(file));
    REQUIRE(result.language_probabilities.size() == bundled_model()->info().languages.size());
    float sum = 0.0f;
    for (std::size_t id = 0; id < result.language_probabilities.size(); ++id) {
      const auto& [code, probability] = result.language_probabilities[id];
      CHECK(code == whisper_lang_str(static_cast<int>(id)));
      CHECK(probability == doctest::Approx(expected[id]).epsilon(1e-4));
      sum += probability;
    }
    CHECK(sum == doctest::Approx(1.0));
  }
}

TEST_CASE("a wrong guess, a right guess and a given language decode to the same tokens and probabilities") {
  for (const char* file : kFiles) {
    CAPTURE(file);
    DecodeOptions options;
    options.own_length = true;
    const WindowResult wrong = automatic(file, options);
    options.language_guess = wrong.language;
    check_same_decoding(decode(file, options), wrong);
    options.language = wrong.language;
    check_same_decoding(decode(file, options), wrong);
  }
}

TEST_CASE("the same holds with beams, with a prompt, and when translating") {
  DecodeOptions beams;
  beams.beam_size = 4;
  DecodeOptions prompted;
  prompted.initial_prompt = "Guten Tag, wie geht es Ihnen heute?";
  DecodeOptions translated;
  translated.task = SpeechTask::kTranslate;
  for (DecodeOptions options : {beams, prompted, translated}) {
    options.own_length = true;
    const WindowResult result = automatic("seen1-de-01.flac", options);
    CHECK(result.timings.encoder_passes == 1);
    options.language = "de";
    check_same_decoding(result, decode("seen1-de-01.flac", options));
  }
}

TEST_CASE("after a wrong guess, a fall-back is decoded in the right language") {
  DecodeOptions options;
  options.own_length = true;
  options.log_prob_threshold = 1.0f;
  options.no_speech_threshold = 2.0f;
  const WindowResult result = automatic("held1-es-04.flac", options);
  CHECK(result.timings.encoder_passes > 1);
  options.language = "es";
  check_same_decoding(result, decode("held1-es-04.flac", options));
}

TEST_CASE("windows that take several encoder passes are decoded in the right language throughout") {
  for (const test::Clip& clip : test::clips()) {
    if (clip.sentences == 1) continue;
    CAPTURE(clip.file);
    DecodeOptions options;
    options.own_length = true;
    options.language_guess = "ja";
    const WindowResult result = decode(clip.file, options);
    options.language = result.language;
    check_same_decoding(result, decode(clip.file, options));
    CHECK(result.language == clip.language);
  }
}

}  // namespace verbatim

#include <doctest/doctest.h>
#include <whisper.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "speech/support.h"
#include "speech/whisper/decoding/window_decoding.h"
#include "speech/whisper_cpp/slot.h"
#include "speech/whisper_cpp/whisper_state.h"

// WindowDecoding on whisper.cpp's own encoder and decoder, with the bundled model and speech. Its results must equal
// those of whisper_full_with_state, prompts and languages included.
namespace verbatim {
namespace {

using test::bundled_model;
using test::window_of;
using whisper::TokenId;
using whisper::WindowDecoding;

whisper::DecodingModel decoding_model(const SpeechModel& model) {
  whisper_context* context = model.context();
  whisper::DecodingModel decoding;
  decoding.tokens = whisper::special_tokens(whisper_n_vocab(context));
  const auto blank = model.vocabulary().tokenize(" ");
  REQUIRE(blank.size() == 1);
  decoding.blank = blank.front();
  decoding.languages = model.info().languages;
  decoding.time_stamps = whisper_model_n_text_layer(context) != 2 || whisper_n_vocab(context) == 51866;
  return decoding;
}

// Decodes a prompt at once and the tokens after it one by one, as whisper_full_with_state does, from a slot's features.
class Decoder {
 public:
  Decoder(const SpeechModel& model, const Window& window)
      : context_(model.context()), state_(whisper_init_state(context_)) {
    const whisper::MelSpectrogram spectrogram = model.mel_extractor().spectrogram(window.samples);
    const int frames = spectrogram.frames();
    std::vector<float> values(static_cast<std::size_t>(frames * spectrogram.bands()));
    spectrogram.copy(0, frames, values.data());
    REQUIRE(whisper_set_mel_with_state(context_, state_.get(), values.data(), frames, spectrogram.bands()) == 0);
  }

  void encode(int seek) {
    cached_.clear();
    REQUIRE(whisper_encode_with_state(context_, state_.get(), seek, 1) == 0);
  }

  void step(WindowDecoding& decoding) {
    const whisper::DecodingRequest& request = decoding.request();
    std::vector<std::vector<TokenId>> texts;
    for (const std::size_t parent : request.parents) {
      const bool is_new = parent == whisper::DecodingRequest::kNewText;
      texts.push_back(is_new ? std::vector<TokenId>() : texts_.at(parent));
    }
    texts_ = std::move(texts);
    for (std::size_t row = 0; row < request.rows.size(); ++row) {
      std::vector<TokenId>& text = texts_.at(request.rows[row].history);
      text.push_back(request.rows[row].token);
      if (!request.rows[row].wants_logits) continue;
      std::vector<float> logits = logits_of(text);
      decoding.on_logits(row, logits);
    }
    decoding.advance();
  }

 private:
  std::vector<float> logits_of(const std::vector<TokenId>& text) {
    const bool goes_on = cached_.size() + 1 == text.size() && is_prompt_done(cached_) &&
                         std::equal(cached_.begin(), cached_.end(), text.begin());
    const int past = goes_on ? static_cast<int>(cached_.size()) : 0;
    const int size = static_cast<int>(text.size()) - past;
    REQUIRE(whisper_decode_with_state(context_, state_.get(), text.data() + past, size, past, 1) == 0);
    cached_ = text;
    const int vocabulary = whisper_n_vocab(context_);
    const float* logits = whisper_get_logits_from_state(state_.get()) + (size - 1) * vocabulary;
    return {logits, logits + vocabulary};
  }

  bool is_prompt_done(const std::vector<TokenId>& text) const {
    return std::ranges::find(text, whisper_token_transcribe(context_)) != text.end();
  }

  whisper_context* context_;
  StatePointer state_;
  std::vector<std::vector<TokenId>> texts_;
  std::vector<TokenId> cached_;
};

WindowResult decode(const Window& window, const DecodeOptions& options) {
  const auto model = bundled_model();
  whisper_context* context = model->context();
  const whisper::DecodingModel decoding_by = decoding_model(*model);
  WindowDecoding decoding(decoding_by, options, model->vocabulary().tokenize(options.initial_prompt),
                          window.samples.size());
  Decoder decoder(*model, window);
  while (decoding.phase() != WindowDecoding::Phase::kDone) {
    if (decoding.phase() == WindowDecoding::Phase::kEncode) {
      decoder.encode(decoding.seek());
      decoding.encoded();
    } else {
      decoder.step(decoding);
    }
  }
  return decoding.result([&](TokenId id) { return whisper_token_to_str(context, id); });
}

// ggml's kernels round by the number of rows, which a slot chooses otherwise: measured 1e-3 with gcc 14.
constexpr double kRounding = 5e-3;

void check_same(const WindowResult& actual, const WindowResult& expected) {
  CHECK(actual.language == expected.language);
  REQUIRE(actual.language_probabilities.size() == expected.language_probabilities.size());
  for (std::size_t i = 0; i < actual.language_probabilities.size(); ++i) {
    CHECK(actual.language_probabilities[i].first == expected.language_probabilities[i].first);
    CHECK(actual.language_probabilities[i].second ==
          doctest::Approx(expected.language_probabilities[i].second).epsilon(kRounding));
  }
  CHECK(actual.scored_tokens == expected.scored_tokens);
  REQUIRE(actual.average_log_probability.has_value() == expected.average_log_probability.has_value());
  if (actual.average_log_probability) {
    CHECK(*actual.average_log_probability == doctest::Approx(*expected.average_log_probability).epsilon(kRounding));
  }
  CHECK(actual.timings.encoder_passes == expected.timings.encoder_passes);
  CHECK(actual.timings.fallbacks == expected.timings.fallbacks);
  REQUIRE(actual.segments.size() == expected.segments.size());
  for (std::size_t i = 0; i < actual.segments.size(); ++i) {
    const Segment& ours = actual.segments[i];
    const Segment& theirs = expected.segments[i];
    CHECK(ours.text == theirs.text);
    CHECK(ours.start_seconds == theirs.start_seconds);
    CHECK(ours.end_seconds == theirs.end_seconds);
    CHECK(ours.no_speech_probability == doctest::Approx(theirs.no_speech_probability).epsilon(kRounding));
    REQUIRE(ours.tokens.size() == theirs.tokens.size());
    for (std::size_t j = 0; j < ours.tokens.size(); ++j) {
      CHECK(ours.tokens[j].id == theirs.tokens[j].id);
      CHECK(ours.tokens[j].text == theirs.tokens[j].text);
      CHECK(ours.tokens[j].probability == doctest::Approx(theirs.tokens[j].probability).epsilon(kRounding));
    }
  }
}

void check_as_slot(const std::string& file, const DecodeOptions& options) {
  CAPTURE(file);
  const Window& window = window_of(file);
  check_same(decode(window, options), Slot(bundled_model(), 1).transcribe(window, options, nullptr));
}

TEST_CASE("decoding by whisper.cpp's decoder: equals a slot's result, with the language detected") {
  for (const auto& [file, language] :
       {std::pair{"seenN-en-00.flac", "en"}, {"held1-de-02.flac", "de"}, {"heldN-es-00.flac", "es"}}) {
    DecodeOptions options;
    // A slot that guesses wrong encodes the window again.
    options.language_guess = language;
    check_as_slot(file, options);
  }
}

TEST_CASE("decoding by whisper.cpp's decoder: equals a slot's result with an initial prompt") {
  for (const char* language : {"en", "auto"}) {
    DecodeOptions options;
    options.language = language;
    options.initial_prompt = "A lesson of English. Do you speak it?";
    check_as_slot("seenN-en-00.flac", options);
  }
}

TEST_CASE("decoding by whisper.cpp's decoder: equals a slot's result with few tokens per segment" *
          doctest::test_suite("long")) {
  DecodeOptions options;
  options.language = "es";
  options.max_tokens = 5;
  check_as_slot("heldN-es-00.flac", options);
  // Every pass gets this prompt, and the text of the pass before.
  options.initial_prompt = "Hoy es domingo, dieciocho de mayo.";
  check_as_slot("heldN-es-00.flac", options);
}

}  // namespace
}  // namespace verbatim

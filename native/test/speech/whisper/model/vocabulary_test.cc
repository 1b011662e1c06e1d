// Compared with whisper.cpp on the same file.
#include "speech/whisper/model/vocabulary.h"

#include <doctest/doctest.h>
#include <whisper.h>

#include <random>
#include <string>
#include <vector>

#include "speech/random_models/random_whisper_model.h"
#include "speech/support.h"
#include "speech/whisper/model/model_reader.h"
#include "speech/whisper/model/word_splitter.h"
#include "speech/whisper_cpp/model.h"
#include "support/seed.h"
#include "testing/temporary_directory.h"

namespace verbatim::whisper {
namespace {

// The same file, loaded by both.
struct Both {
  explicit Both(const std::filesystem::path& path)
      : reference(SpeechModel::load(path, "cpu")),
        reader(path),
        ours(reader.vocabulary(), reader.info().shape.vocabulary) {}

  whisper_context* context() const { return reference->context(); }

  std::shared_ptr<const SpeechModel> reference;
  ModelReader reader;
  Vocabulary ours;
};

const Both& bundled() {
  static const Both both(test::bundled_model_path());
  return both;
}

void check_every_name(const Both& both) {
  REQUIRE(both.ours.special().vocabulary == whisper_n_vocab(both.context()));
  for (TokenId id = 0; id < both.ours.special().vocabulary; ++id) {
    if (both.ours.text(id) == whisper_token_to_str(both.context(), id)) continue;
    CAPTURE(id);
    CHECK(both.ours.text(id) == whisper_token_to_str(both.context(), id));
  }
}

void check_special_ids(const Both& both) {
  const SpecialTokens& ids = both.ours.special();
  whisper_context* const context = both.context();
  CHECK(ids.multilingual == (whisper_is_multilingual(context) != 0));
  CHECK(ids.end_of_text == whisper_token_eot(context));
  CHECK(ids.start_of_transcript == whisper_token_sot(context));
  CHECK(ids.translate == whisper_token_translate(context));
  CHECK(ids.transcribe == whisper_token_transcribe(context));
  CHECK(ids.start_of_lm == whisper_token_solm(context));
  CHECK(ids.start_of_previous == whisper_token_prev(context));
  CHECK(ids.no_speech == whisper_token_nosp(context));
  CHECK(ids.no_time_stamps == whisper_token_not(context));
  CHECK(ids.first_time_stamp == whisper_token_beg(context));
  for (int language = 0; language < ids.languages; ++language) {
    CHECK(ids.language(language) == whisper_token_lang(context, language));
    CHECK(ids.is_language(ids.language(language)));
  }
  CHECK_FALSE(ids.is_language(ids.language(-1)));
  CHECK_FALSE(ids.is_language(ids.language(ids.languages)));
}

std::vector<TokenId> reference_tokens(const std::string& text) {
  std::vector<TokenId> tokens(text.size() + 1);
  const int count = whisper_tokenize(bundled().context(), text.c_str(), tokens.data(), static_cast<int>(tokens.size()));
  REQUIRE(count >= 0);
  tokens.resize(static_cast<std::size_t>(count));
  return tokens;
}

// Pieces of the random texts: what the pattern distinguishes, several scripts, and broken characters.
const std::vector<std::string> kPieces = {
    "'",      "'s",       "'t",         "'re",      "'ve",    "'m",      "'ll",   "'d",  "'S",   " ",
    "  ",     "   ",      "\t",         "\n",       "\r\n",   "\v",      "\f",    "a",   "Z",    "the",
    " quick", "brown ",   "0",          "42",       " 2026",  ".",       ",",     "!?",  "...",  "-",
    "\"",     "(",        ")",          "ä",        "ß",      "Grüße",   "é",     " ça", "ñ",    "привет",
    " мир",   "日本語",   "こんにちは", "中文 ",    "한국어", "العربية", "हिन्दी", "ไทย", "🙂", "👩‍👩‍👧",
    "\xff",   "\x80\x80", "\xc3",       "\xe2\x82", "\x01",   "\x7f",    "\x1b",  "…",   "„",    "“",
    "\u00a0", "\u2003",   "_",          "<|",       "|>",     "[_BEG_]",
};

}  // namespace

TEST_CASE("every token of the bundled model has whisper.cpp's name and id") {
  check_every_name(bundled());
  check_special_ids(bundled());
}

TEST_CASE("every token of every size of vocabulary has whisper.cpp's name and id") {
  const test::TemporaryDirectory directory;
  for (const int vocabulary : {51864, 51865, 51866}) {
    CAPTURE(vocabulary);
    ModelShape shape = random_models::published_shape("tiny");
    shape.vocabulary = vocabulary;
    shape.audio_state = shape.text_state = 64;
    shape.audio_heads = shape.text_heads = 1;
    shape.audio_layers = shape.text_layers = 1;
    const auto path = directory.path() / "model.bin";
    random_models::write_random_model(shape, 1, path);
    const Both both(path);
    check_every_name(both);
    check_special_ids(both);
  }
}

TEST_CASE("a token is found by its bytes, the names of special ones included") {
  const Vocabulary& ours = bundled().ours;
  const SpecialTokens& ids = ours.special();
  CHECK(ours.find("[_BEG_]") == ids.first_time_stamp);
  CHECK(ours.find("[_TT_5]") == ids.first_time_stamp + 5);
  CHECK(ours.find("[_LANG_en]") == ids.language(0));
  CHECK(ours.find(" ").has_value());
  CHECK_FALSE(ours.find("no token is called like this").has_value());
}

TEST_CASE("texts are cut into the tokens that whisper.cpp cuts them into") {
  std::mt19937 random(test::seed());
  const auto below = [&](std::size_t limit) { return random() % limit; };
  for (int i = 0; i < 4000; ++i) {
    std::string text;
    for (std::size_t pieces = below(12); pieces > 0; --pieces) text += kPieces[below(kPieces.size())];
    CAPTURE(text);
    REQUIRE(bundled().ours.tokenize(text) == reference_tokens(text));
    // The vocabulary for a slot's prompts.
    REQUIRE(bundled().reference->vocabulary().tokenize(text) == reference_tokens(text));
  }
}

TEST_CASE("any bytes are cut into the tokens that whisper.cpp cuts them into") {
  std::mt19937 random(test::seed());
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 40, '\0');
    for (char& c : text) c = static_cast<char>(random());
    CAPTURE(text);
    REQUIRE(bundled().ours.tokenize(text) == reference_tokens(text));
  }
}

TEST_CASE("the clips' texts are cut into the tokens that whisper.cpp cuts them into") {
  for (const test::Clip& clip : test::clips()) {
    REQUIRE(bundled().ours.tokenize(clip.text) == reference_tokens(clip.text));
  }
}

TEST_CASE("a text that spells a special token stays text") {
  const Vocabulary& ours = bundled().ours;
  std::string all;
  for (TokenId id = ours.special().end_of_text; id < ours.special().vocabulary; ++id) all += ours.text(id);
  for (const char* spelling : {"<|endoftext|>", "<|startoftranscript|>", "<|0.00|>", "<|notimestamps|>"}) {
    all += spelling;
  }
  for (const TokenId id : ours.tokenize(all)) REQUIRE(id < ours.special().end_of_text);
}

// whisper.cpp's own implementation, std::regex, recurses for each of the bytes.
TEST_CASE("a word of a million bytes is cut without deep recursion") {
  const std::size_t bytes = 1'000'000;
  for (const char* letter : {"a", " ", "7", "\xff"}) {
    std::string word;
    while (word.size() < bytes) word += letter;
    CHECK(first_word(word) == bytes);
    CHECK(bundled().ours.tokenize(word).size() <= bytes);
  }
  CHECK(bundled().ours.tokenize("").empty());
}

}  // namespace verbatim::whisper

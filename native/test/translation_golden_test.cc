#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "translation/json_file.h"
#include "translation/model.h"

// What the real CTranslate2 made of the tiny models (test/fixtures/ct2/golden.json): every case again, each
// sentence alone and all in one batch.
namespace {

using nlohmann::json;
using namespace verbatim::translation;

std::filesystem::path fixtures() { return std::filesystem::path(VERBATIM_SOURCE_DIR) / "test/fixtures/ct2"; }

TranslationOptions options_of(const json& from) {
  TranslationOptions options;
  options.beam_size = from.value("beam", 1);
  options.num_hypotheses = from.value("num_hyp", 1);
  options.length_penalty = from.value("length_penalty", 1.0f);
  options.coverage_penalty = from.value("coverage_penalty", 0.0f);
  options.repetition_penalty = from.value("rep_penalty", 1.0f);
  options.no_repeat_ngram_size = from.value("no_repeat_ngram", 0);
  options.disable_unk = from.value("disable_unk", 0) != 0;
  options.max_decoding_length = from.at("max_len").get<int>();
  options.return_attention = from.value("attention", 0) != 0;
  return options;
}

std::vector<TranslationInput> inputs_of(const json& test) {
  std::vector<TranslationInput> inputs;
  for (std::size_t i = 0; i < test.at("src").size(); ++i) {
    TranslationInput input;
    test["src"][i].get_to(input.source);
    if (!test["prefix"][i].is_null()) test["prefix"][i].get_to(input.target_prefix);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

struct Tally {
  int sentences = 0;
  int equal_firsts = 0;
  double worst_score = 0.0;
};

bool same_tokens(const std::vector<TranslationHypothesis>& got, const json& expected) {
  if (got.size() != expected.at("hyps").size()) return false;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i].tokens != expected["hyps"][i].get<std::vector<std::string>>()) return false;
  }
  return true;
}

void compare(const json& test, std::size_t index, const std::vector<TranslationHypothesis>& got,
             const json& expected, bool is_exact, Tally& tally) {
  const auto name = test.at("name").get<std::string>() + " sentence " + std::to_string(index);
  ++tally.sentences;
  const auto first = expected.at("hyps")[0].get<std::vector<std::string>>();
  const bool is_first_equal = got.front().tokens == first;
  tally.equal_firsts += is_first_equal;
  const double gap = std::abs(got.front().score - expected["scores"][0].get<double>());
  if (is_first_equal) {
    for (std::size_t i = 0; i < std::min(got.size(), expected["scores"].size()); ++i) {
      if (is_exact)
        tally.worst_score =
            std::max(tally.worst_score, std::abs(got[i].score - expected["scores"][i].get<double>()));
    }
    if (!is_exact) tally.worst_score = std::max(tally.worst_score, gap);
  } else if (!is_exact) {
    std::printf("  differs: %s, score %.6f, CTranslate2 %.6f, gap %.6f\n", name.c_str(), got.front().score,
                expected["scores"][0].get<double>(), gap);
  }
  if (is_exact) CHECK_MESSAGE(same_tokens(got, expected), name);
}

}  // namespace

TEST_CASE("golden parity with CTranslate2") {
  const json golden = read_json(fixtures() / "golden.json");
  Tally exact, rounded;
  for (const json& test : golden.at("cases")) {
    const auto compute = test.at("options").at("compute").get<std::string>();
    const bool is_exact = compute == "float32";
    const auto model =
        TranslationModel::load(fixtures() / test.at("model").get<std::string>(), {"cpu", compute, "auto"});
    const auto translator = model->create_translator(1);
    const TranslationOptions options = options_of(test.at("options"));
    const auto inputs = inputs_of(test);
    const auto all = translator->translate(inputs, options, nullptr);
    // CTranslate2 mixes up the attention of a batch, so that its coverage penalty is right for single
    // sentences only.
    const bool is_batch_comparable = options.coverage_penalty == 0.0f;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto alone = translator->translate(std::span(inputs).subspan(i, 1), options, nullptr);
      Tally& tally = is_exact ? exact : rounded;
      compare(test, i, alone.results[0], test.at("results")[i], is_exact, tally);
      if (is_batch_comparable)
        compare(test, i, all.results[i], test.at("results_one_batch")[i], is_exact, tally);
      REQUIRE(alone.results[0].size() == all.results[i].size());
      for (std::size_t j = 0; j < all.results[i].size(); ++j) {
        CHECK(alone.results[0][j].tokens == all.results[i][j].tokens);
        CHECK(alone.results[0][j].score == all.results[i][j].score);
      }
    }
  }
  std::printf("  float32: %d of %d first hypotheses equal, scores within %.2g\n", exact.equal_firsts,
              exact.sentences, exact.worst_score);
  std::printf("  int8: %d of %d first hypotheses equal, scores within %.2g\n", rounded.equal_firsts,
              rounded.sentences, rounded.worst_score);
  CHECK(exact.worst_score < 1e-3);
  CHECK(rounded.equal_firsts >= 0.95 * rounded.sentences);
}

#include "speech/whisper/decoding/token_distribution.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "speech/random_models/noise.h"
#include "speech/whisper/decoding/scripted_decodings.h"
#include "support/seed.h"

namespace verbatim::whisper {
namespace {

// Text tokens below 1000, then time stamps.
constexpr AllowedTokens kAllowed{{0, 1000}, {1000, 1500}, -1};

DecodedToken explained(std::vector<float> logits, const AllowedTokens& allowed = kAllowed) {
  return TokenDistribution(transformer::kernels(), logits, allowed, 0.0f).explained_most_likely(transformer::kernels());
}

std::vector<float> flat_logits() { return std::vector<float>(1500, -50.0f); }

std::vector<float> random_logits(std::uint32_t seed) {
  std::vector<float> logits = random_models::noise(1500, seed);
  for (float& logit : logits) logit *= 6.0f;
  return logits;
}

TokenSampler::Drawn drawn(std::vector<float> logits, std::uint32_t seed) {
  std::mt19937 random(seed);
  const TokenDistribution distribution(transformer::kernels(), logits, kAllowed, 1.0f);
  return TokenSampler(transformer::kernels(), distribution).draw_with_margin(random);
}

}  // namespace

TEST_CASE("a token of text has the runner-up of text") {
  std::vector<float> logits = flat_logits();
  logits[10] = 5.0f;
  logits[20] = 4.75f;
  logits[1100] = 1.0f;
  const DecodedToken token = explained(logits);
  CHECK(token.id == 10);
  CHECK(token.runner_up == 20);
  CHECK(token.log_probability - token.runner_up_log_probability == doctest::Approx(0.25));
  CHECK(token.time_stamp_lead == doctest::Approx(-4.0));
  CHECK(token.margin == doctest::Approx(0.25));
}

TEST_CASE("a token of text has the lead of the time stamps together") {
  std::vector<float> logits = flat_logits();
  logits[10] = 5.0f;
  for (std::size_t i = 1000; i < 1008; ++i) logits[i] = 4.99f - std::log(8.0f);
  const DecodedToken token = explained(logits);
  CHECK(token.id == 10);
  CHECK(token.time_stamp_lead == doctest::Approx(-0.01).epsilon(0.01));
  CHECK(token.margin == doctest::Approx(0.01).epsilon(0.01));
}

TEST_CASE("a time stamp has the runner-up time stamp and the lead over text") {
  std::vector<float> logits = flat_logits();
  logits[10] = 4.9f;
  logits[1100] = 5.0f;
  logits[1200] = 4.5f;
  const DecodedToken token = explained(logits);
  CHECK(token.id == 1100);
  CHECK(token.runner_up == 1200);
  CHECK(token.log_probability - token.runner_up_log_probability == doctest::Approx(0.5));
  CHECK(token.margin == doctest::Approx(0.5));
  CHECK(token.time_stamp_lead == doctest::Approx(0.1 + std::log1p(std::exp(-0.5))));
}

TEST_CASE("where a single token is allowed, there is no runner-up and the margin is infinite") {
  const DecodedToken token = explained(flat_logits(), {{}, {1499, 1500}, -1});
  CHECK(token.id == 1499);
  CHECK(token.runner_up == -1);
  CHECK(token.margin == std::numeric_limits<float>::infinity());
}

TEST_CASE("a draw changes only if logits move by more than about its margin") {
  constexpr float kMove = 0.05f;
  int changed = 0;
  int near = 0;
  for (std::uint32_t seed = test::seed(), end = seed + 400; seed != end; ++seed) {
    const std::vector<float> logits = random_logits(seed);
    std::vector<float> moved = random_models::noise(logits.size(), seed + 1000);
    for (std::size_t i = 0; i < logits.size(); ++i) moved[i] = logits[i] + kMove * moved[i];
    const TokenSampler::Drawn before = drawn(logits, seed);
    if (before.margin <= 2 * kMove) ++near;
    if (drawn(moved, seed).id == before.id) continue;
    ++changed;
    CHECK(before.margin <= 2 * kMove);
  }
  CHECK(changed > 0);
  CHECK(near < 400);
}

TEST_CASE("choices of every token are reported on request, and the text is the same without them") {
  const test::ScriptedWhisperCpp reference(51865, 1);
  for (const int beams : {1, 4}) {
    test::ScriptedWindow window{.seed = 5, .initial_prompt = {}, .length = 1200};
    window.options.language = "en";
    window.options.beam_size = beams;
    window.options.temperature_increment = 0.0f;
    const test::ScriptedResult without_choices = test::run_window_decoding(reference, window);
    window.options.explain = true;
    const test::ScriptedResult with_choices = test::run_window_decoding(reference, window);
    REQUIRE(with_choices.segments.size() == without_choices.segments.size());
    REQUIRE(!with_choices.segments.empty());
    int tokens = 0;
    int with_margin = 0;
    for (std::size_t i = 0; i < with_choices.segments.size(); ++i) {
      REQUIRE(with_choices.segments[i].tokens.size() == without_choices.segments[i].tokens.size());
      for (std::size_t j = 0; j < with_choices.segments[i].tokens.size(); ++j) {
        const DecodedToken& token = with_choices.segments[i].tokens[j];
        CHECK(token.id == without_choices.segments[i].tokens[j].id);
        CHECK(token.margin >= 0.0f);
        if (token.margin > 0.0f) ++with_margin;
        ++tokens;
        CHECK((token.runner_up >= 0) == (beams == 1));
      }
    }
    // Some of the script's logits are equal.
    CHECK(2 * with_margin > tokens);
    for (const bool explain : {false, true}) {
      WindowResult result;
      const auto text = [](TokenId id) { return std::string_view(id % 2 == 0 ? " a" : " b"); };
      collect_segments(with_choices.segments, reference.model().tokens, text, {12.0, explain}, result);
      REQUIRE(!result.segments.empty());
      for (const Segment& segment : result.segments) {
        CHECK(segment.choices.size() >= (explain ? segment.tokens.size() : 0));
        CHECK(segment.choices.empty() == !explain);
      }
    }
  }
}

}  // namespace verbatim::whisper

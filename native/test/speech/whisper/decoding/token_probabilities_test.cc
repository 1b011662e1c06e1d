#include "speech/whisper/decoding/token_distribution.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "speech/random_models/noise.h"

namespace verbatim::whisper {
namespace {

const SpecialTokens kTokens = special_tokens(51865);
constexpr TokenId kBlank = 220;

std::size_t index(TokenId id) { return static_cast<std::size_t>(id); }

// Between -4 and 4.
std::vector<float> random_logits(std::uint32_t seed) {
  std::vector<float> logits = random_models::noise(index(kTokens.vocabulary), seed);
  for (float& logit : logits) logit *= 4.0f;
  return logits;
}

Hypothesis text_of(std::initializer_list<TokenId> ids) {
  Hypothesis text;
  for (const TokenId id : ids) text.tokens.push_back({id, id, 0.0f, 0.0f});
  return text;
}

AllowedTokens allowed_after(std::initializer_list<TokenId> ids) {
  return LogitsRules{kTokens, kBlank, true, 0}.allowed_after(text_of(ids));
}

// exp(logit) of the allowed tokens, in double precision; 0 for the others.
std::vector<double> weights_of(const std::vector<float>& logits, const AllowedTokens& allowed) {
  std::vector<double> weights(logits.size());
  for (const TokenRange range : {allowed.text, allowed.time_stamps}) {
    for (TokenId id = range.begin; id < range.end; ++id) {
      if (id != allowed.banned) weights[index(id)] = std::exp(static_cast<double>(logits[index(id)]));
    }
  }
  return weights;
}

double sum_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum;
}

TEST_CASE("token distribution: probabilities are those of a softmax over the allowed tokens") {
  for (const transformer::Kernels* kernels : transformer::available_kernels()) {
    INFO(std::string(kernels->name));
    for (const AllowedTokens& allowed : {allowed_after({}), allowed_after({5, 6})}) {
      std::vector<float> logits = random_logits(1);
      logits[index(kBlank)] = 20.0f;
      logits[40000] = 9.0f;
      const std::vector<double> weights = weights_of(logits, allowed);
      const TokenDistribution distribution(*kernels, logits, allowed, 0.0f);
      CHECK(distribution.most_likely() == (allowed.banned == kBlank ? 40000 : kBlank));
      for (const TokenId id : {0, 40000, kTokens.end_of_text - 1, kTokens.first_time_stamp + 7}) {
        const DecodedToken token = distribution.token(id);
        const double expected = weights[index(id)] / sum_of(weights);
        // Beside an almost certain token, sums of floats lose everything below 3e-8 of it: at most that much for each
        // token in the same lane of a vector.
        const double lost = allowed.banned == kBlank ? 2e-5 : 4e-4;
        CHECK(std::abs(static_cast<double>(token.log_probability) - std::log(expected)) < lost);
        CHECK(static_cast<double>(token.probability) == doctest::Approx(expected).epsilon(lost));
      }
    }
  }
}

TEST_CASE("token distribution: the lowest id among equals, text before time stamps") {
  for (const transformer::Kernels* kernels : transformer::available_kernels()) {
    std::vector<float> logits = random_logits(2);
    for (const TokenId id : {30001, 17, 50256}) logits[index(id)] = 30.0f;
    CHECK(TokenDistribution(*kernels, logits, allowed_after({5, 6}), 0.0f).most_likely() == 17);
  }
}

TEST_CASE("token distribution: a time stamp, once all together are likelier than any token of text") {
  const TokenId first = kTokens.first_time_stamp;
  for (const transformer::Kernels* kernels : transformer::available_kernels()) {
    for (const float each : {-5.0f, 8.0f}) {
      std::vector<float> logits = random_logits(3);
      // The other time stamps together weigh e^9.2.
      logits[123] = 12.0f;
      // A hundred of them: e^4.6 times as likely as each.
      std::fill_n(logits.begin() + first + 200, 100, each);
      logits[index(first + 250)] = each + 0.5f;
      const TokenDistribution distribution(*kernels, logits, allowed_after({5, 6}), 0.0f);
      CHECK(distribution.most_likely() == (each > 0.0f ? first + 250 : 123));
      CHECK(distribution.text().empty() == (each > 0.0f));
      const TokenId stamp = distribution.token(123).time_stamp;
      CHECK(distribution.token(first + 3).time_stamp == first + 3);
      if (each > 0.0f) CHECK(stamp == first + 250);
    }
  }
}

TEST_CASE("token distribution: a temperature flattens it") {
  std::vector<float> cold = random_logits(4);
  cold[99] = 8.0f;
  std::vector<float> warm = cold;
  std::vector<float> divided = cold;
  for (float& logit : divided) logit /= 0.5f;
  const AllowedTokens allowed = allowed_after({5, 6});
  const auto probability = [&](std::vector<float>& logits, float temperature) {
    return TokenDistribution(transformer::kernels(), logits, allowed, temperature).token(99).probability;
  };
  CHECK(probability(warm, 0.5f) == probability(divided, 0.0f));
  CHECK(probability(divided, 0.0f) > 2.0f * probability(cold, 0.0f));
}

TEST_CASE("token sampler: draws what std::discrete_distribution draws") {
  constexpr int kDraws = 500;
  for (const transformer::Kernels* kernels : transformer::available_kernels()) {
    INFO(std::string(kernels->name));
    std::vector<float> logits = random_logits(5);
    // A few likely tokens, some in the first and the last block.
    for (const TokenId id : {0, 300, 301, 45000, kTokens.end_of_text}) logits[index(id)] = 12.0f;
    logits[index(kTokens.first_time_stamp)] = 10.0f;
    logits[index(kTokens.vocabulary - 1)] = 10.0f;
    const AllowedTokens allowed = allowed_after({5, 6});
    std::vector<double> weights = weights_of(logits, allowed);
    std::discrete_distribution<> expected(weights.begin(), weights.end());
    const TokenDistribution distribution(*kernels, logits, allowed, 0.0f);
    const TokenSampler sampler(*kernels, distribution);
    std::mt19937 ours(3);
    std::mt19937 theirs(3);
    int different = 0;
    for (int i = 0; i < kDraws; ++i) different += sampler.draw(ours) == expected(theirs) ? 0 : 1;
    // One number in some thousands coincides with a rounded border.
    CHECK(different <= 2);
    CHECK((ours == theirs));
  }
}

TEST_CASE("token sampler: draws allowed tokens alone, and time stamps alone where one is required") {
  std::vector<float> logits = random_logits(6);
  for (TokenId id = kTokens.end_of_text; id < kTokens.first_time_stamp; ++id) logits[index(id)] = 20.0f;
  logits[index(kBlank)] = 25.0f;
  const auto drawn = [&](std::initializer_list<TokenId> text) {
    std::vector<float> row = logits;
    const TokenDistribution distribution(transformer::kernels(), row, allowed_after(text), 0.0f);
    const TokenSampler sampler(transformer::kernels(), distribution);
    std::mt19937 random(1);
    std::vector<TokenId> ids;
    for (int i = 0; i < 300; ++i) ids.push_back(sampler.draw(random));
    return ids;
  };
  // At the beginning: no blank, no end of text, and no time stamp above one second.
  for (const TokenId id : drawn({})) {
    CHECK(id != kBlank);
    CHECK((id < kTokens.end_of_text || kTokens.is_time_stamp(id)));
    CHECK(id <= kTokens.first_time_stamp + 50);
  }
  // After text and a time stamp: another time stamp or the end of text.
  for (const TokenId id : drawn({5, kTokens.first_time_stamp + 9})) CHECK(id >= kTokens.end_of_text);
}

TEST_CASE("token distribution: NaN logits give allowed tokens") {
  const float broken[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()};
  for (const transformer::Kernels* kernels : transformer::available_kernels()) {
    for (const float value : broken) {
      std::vector<float> logits(index(kTokens.vocabulary), value);
      const AllowedTokens allowed = allowed_after({5, 6});
      const TokenDistribution distribution(*kernels, logits, allowed, 0.2f);
      const TokenSampler sampler(*kernels, distribution);
      std::mt19937 random(1);
      for (const TokenId id : {distribution.most_likely(), sampler.draw(random)}) {
        CHECK(id >= 0);
        CHECK(id < kTokens.vocabulary);
      }
    }
  }
}

}  // namespace
}  // namespace verbatim::whisper

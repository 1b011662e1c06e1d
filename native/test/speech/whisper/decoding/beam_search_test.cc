#include "speech/whisper/decoding/beam_search.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace verbatim::whisper {
namespace {

using Choice = std::pair<std::size_t, TokenId>;

Hypothesis text_of(const std::vector<TokenId>& ids) {
  Hypothesis text;
  for (const TokenId id : ids) text.tokens.push_back({.id = id});
  return text;
}

BeamCandidate candidate(std::size_t hypothesis, TokenId id, double log_probability) {
  return {hypothesis, {.id = id}, log_probability};
}

std::vector<Choice> chosen(std::vector<BeamCandidate> candidates, const std::vector<Hypothesis>& hypotheses,
                           std::size_t count) {
  std::vector<Choice> choices;
  for (const BeamCandidate& one : choose_beams(candidates, hypotheses, count)) {
    choices.emplace_back(one.hypothesis, one.token.id);
  }
  return choices;
}

}  // namespace

TEST_CASE("beam search: the best continue, whatever their hypothesis, and the first among equals") {
  const std::vector hypotheses = {text_of({1}), text_of({2})};
  CHECK(chosen({candidate(0, 10, -3), candidate(0, 11, -2), candidate(1, 12, -1), candidate(1, 13, -2)}, hypotheses,
               3) == std::vector<Choice>{{1, 12}, {0, 11}, {1, 13}});
}

TEST_CASE("beam search: the same text continues once, from one hypothesis or from two equal ones") {
  const std::vector hypotheses = {text_of({1, 2}), text_of({1, 2}), text_of({1, 3})};
  CHECK(chosen({candidate(0, 10, -1), candidate(0, 10, -1), candidate(1, 10, -1), candidate(1, 11, -4),
                candidate(2, 10, -2), candidate(2, 12, -3)},
               hypotheses, 3) == std::vector<Choice>{{0, 10}, {2, 10}, {2, 12}});
}

TEST_CASE("beam search: the first tokens may be the same") {
  const std::vector hypotheses = {text_of({}), text_of({})};
  CHECK(chosen({candidate(0, 10, -1), candidate(0, 11, -2), candidate(1, 10, -1), candidate(1, 11, -2)}, hypotheses,
               2) == std::vector<Choice>{{0, 10}, {1, 10}});
}

TEST_CASE("beam search: where texts are too few, it starts again with the best") {
  const std::vector hypotheses = {text_of({1}), text_of({1}), text_of({1})};
  CHECK(chosen({candidate(0, 10, -1), candidate(1, 10, -1), candidate(2, 11, -2)}, hypotheses, 3) ==
        std::vector<Choice>{{0, 10}, {2, 11}, {0, 10}});
}

}  // namespace verbatim::whisper

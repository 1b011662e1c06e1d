#include "speech/whisper/decoding/window_segments.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace verbatim::whisper {
namespace {

const SpecialTokens kTokens = special_tokens(51865);
const TokenId kEnd = kTokens.end_of_text;
const TokenId kTime = kTokens.first_time_stamp;

// Every text token has the time stamp of its own number behind it.
std::vector<DecodedToken> text_of(const std::vector<TokenId>& ids) {
  std::vector<DecodedToken> text;
  for (const TokenId id : ids) {
    text.push_back({.id = id, .time_stamp = kTokens.is_text(id) ? kTime + id : id, .log_probability = -0.5f});
  }
  return text;
}

struct Cut {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::vector<TokenId> ids;
  bool operator==(const Cut&) const = default;
};

std::vector<Cut> cut(const std::vector<TokenId>& ids, int seek = 0, int seek_delta = 3000) {
  std::vector<Cut> cuts;
  for (const DecodedSegment& segment : cut_segments(text_of(ids), kTokens, seek, seek_delta)) {
    cuts.push_back({segment.start, segment.end, {}});
    for (const DecodedToken& token : segment.tokens) cuts.back().ids.push_back(token.id);
  }
  return cuts;
}

}  // namespace

TEST_CASE("window segments: a text is cut behind the time stamps that close a segment, from where its pass began") {
  CHECK(cut({kTime + 1, 5, 6, kTime + 20, kTime + 30, 7, kTime + 40}, 1000, 80) ==
        std::vector<Cut>{{1002, 1040, {5, 6, kTime + 20}}, {1060, 1080, {7, kTime + 40}}});
}

TEST_CASE("window segments: text behind the last time stamp ends where the pass ends") {
  CHECK(cut({kTime, 5, kTime + 20, kTime + 20, 6, kEnd}, 0, 3000) ==
        std::vector<Cut>{{0, 40, {kTime, 5, kTime + 20}}, {40, 3000, {6, kEnd}}});
}

TEST_CASE("window segments: a text without a time stamp at its start begins at the likeliest one") {
  CHECK(cut({5, kTime + 20}) == std::vector<Cut>{{10, 40, {5, kTime + 20}}});
}

TEST_CASE("window segments: time stamps without text between them are no segment, and 0.00 closes none") {
  CHECK(cut({5, kTime + 20, kTime + 25, kTime + 30, 6, kTime + 40}) ==
        std::vector<Cut>{{10, 40, {5, kTime + 20}}, {60, 80, {6, kTime + 40}}});
  CHECK(cut({kTime + 20, kTime + 25, kEnd}).empty());
  CHECK(cut({kTime, 5, kTime, 6}, 0, 100) == std::vector<Cut>{{0, 100, {kTime, 5, kTime, 6}}});
  CHECK(cut({}).empty());
}

TEST_CASE("window segments: times are clipped to the window, and a segment does not end before it begins") {
  const std::vector<DecodedSegment> segments = {
      {-50, 100, 0.5f, text_of({1})}, {900, 5000, 0.25f, text_of({2})}, {400, 300, 0.0f, text_of({3})}};
  WindowResult result;
  collect_segments(
      segments, kTokens, [](TokenId) { return " a"; }, {10.0, false}, result);
  REQUIRE(result.segments.size() == 3);
  const std::vector<std::pair<double, double>> expected = {{0, 1}, {9, 10}, {4, 4}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(result.segments[i].start_seconds == expected[i].first);
    CHECK(result.segments[i].end_seconds == expected[i].second);
  }
  CHECK(result.segments[1].no_speech_probability == 0.25f);
}

TEST_CASE("window segments: on request each has its decoding, without the end of text") {
  std::vector<DecodedSegment> segments = {{0, 1, 0.0f, text_of({kTime, 1, kTime + 5})},
                                          {1, 2, 0.0f, text_of({2, kEnd})}};
  segments[0].temperature = 0.4f;
  const TokenText text = [](TokenId) { return " a"; };
  WindowResult result;
  SegmentFormat format{10.0};
  collect_segments(segments, kTokens, text, format, result);
  CHECK_FALSE(result.segments[0].decoding.has_value());
  format.describe = true;
  WindowResult described;
  collect_segments(segments, kTokens, text, format, described);
  REQUIRE(described.segments.size() == 2);
  CHECK(described.segments[0].decoding->tokens == std::vector<int>{kTime, 1, kTime + 5});
  CHECK(described.segments[0].decoding->temperature == 0.4f);
  CHECK(described.segments[0].decoding->average_log_probability == doctest::Approx(-0.5));
  CHECK(described.segments[1].decoding->tokens == std::vector<int>{2});
  CHECK(described.segments[1].decoding->temperature == 0.0f);
}

TEST_CASE("window segments: text and time stamps of segments with letters are scored, the end of text is not") {
  const std::vector<DecodedSegment> segments = {{0, 1, 0.0f, text_of({kTime, 1, kTime + 5})},
                                                {1, 2, 0.0f, text_of({2, kTime + 9})},
                                                {2, 3, 0.0f, text_of({1, kEnd})}};
  WindowResult result;
  collect_segments(
      segments, kTokens, [](TokenId id) { return id == 2 ? " \n" : " a"; }, {10.0, false}, result);
  CHECK(result.scored_tokens == 4);
  CHECK(*result.average_log_probability == doctest::Approx(-0.5));
  WindowResult silent;
  collect_segments(
      {}, kTokens, [](TokenId) { return " a"; }, {10.0, false}, silent);
  CHECK_FALSE(silent.average_log_probability.has_value());
  CHECK(silent.scored_tokens == 0);
}

}  // namespace verbatim::whisper

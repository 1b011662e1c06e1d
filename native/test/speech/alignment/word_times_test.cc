#include "speech/alignment/word_times.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "audio/sample_rate.h"
#include "support/seed.h"

namespace verbatim::alignment {
namespace {

using Times = std::vector<std::pair<double, double>>;

// A segment for each list of times. Every word is " word" unless `texts` are given.
Segment segment_of(const Times& times, const std::vector<std::string>& texts = {}) {
  Segment segment;
  for (std::size_t i = 0; i < times.size(); ++i) {
    segment.words.push_back({i < texts.size() ? texts[i] : " word", times[i].first, times[i].second, 0.5f});
    segment.text += segment.words.back().text;
  }
  return segment;
}

Times times_of(const std::vector<Segment>& segments) {
  Times times;
  for (const Segment& segment : segments) {
    for (const Word& word : segment.words) times.emplace_back(word.start_seconds, word.end_seconds);
  }
  return times;
}

void check_times(const std::vector<Segment>& segments, const Times& expected) {
  const Times times = times_of(segments);
  REQUIRE(times.size() == expected.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    CAPTURE(i);
    CHECK(times[i].first == doctest::Approx(expected[i].first));
    CHECK(times[i].second == doctest::Approx(expected[i].second));
  }
}

SpeechSpan span(double begin, double end) {
  return {static_cast<std::size_t>(begin * kSampleRate), static_cast<std::size_t>(end * kSampleRate)};
}

Times placed(const Times& times, const std::vector<SpeechSpan>& speech, double seconds = 10.0) {
  std::vector<Segment> segments{segment_of(times)};
  place_words(segments, speech, seconds);
  return times_of(segments);
}

}  // namespace

TEST_CASE("a word has its first and last tokens' times and its tokens' mean probability") {
  const std::vector<Token> tokens{
      {1, " Hel", 0.5f}, {2, "lo", 0.7f}, {3, ",", 0.1f}, {4, " you", 0.9f}, {5, ".", 0.2f}};
  const auto words = make_words(tokens, std::array{0.1, 0.2, 0.3, 0.4, 0.6, 0.7}, true);
  REQUIRE(words.size() == 2);
  CHECK(words[0].text == " Hello,");
  CHECK(words[0].start_seconds == 0.1);
  CHECK(words[0].end_seconds == 0.3);
  CHECK(words[0].probability == doctest::Approx(0.6));
  CHECK(words[1].text == " you.");
  CHECK(words[1].start_seconds == 0.4);
  CHECK(words[1].end_seconds == 0.6);
}

TEST_CASE("words that are in order and in speech stay where they are, and segments follow them") {
  std::vector<Segment> segments{segment_of({{1, 1.3}, {1.3, 1.6}}), segment_of({{2, 2.4}})};
  segments[0].end_seconds = 9;
  place_words(segments, std::array{span(0.5, 3)}, 10);
  check_times(segments, {{1, 1.3}, {1.3, 1.6}, {2, 2.4}});
  CHECK(segments[0].start_seconds == 1);
  CHECK(segments[0].end_seconds == 1.6);
  CHECK(segments[1].start_seconds == 2);
  CHECK(segments[1].end_seconds == 2.4);
}

TEST_CASE("a word at the edge of a sentence is not stretched over a pause") {
  std::vector<Segment> segments{
      segment_of({{0, 2.3}, {2.3, 2.6}, {2.6, 2.9}, {2.9, 6.2}, {6.2, 6.5}}, {" Some", " word", " ends.", " Next"})};
  place_words(segments, {}, 10);
  check_times(segments, {{1.7, 2.3}, {2.3, 2.6}, {2.6, 2.9}, {5.6, 6.2}, {6.2, 6.5}});
  // Within a sentence words may have any length; the last word of a segment is shortened.
  segments = {segment_of({{0, 0.3}, {0.3, 3}, {3, 3.3}, {3.3, 3.6}, {3.6, 8}}), segment_of({{9, 9.3}})};
  place_words(segments, {}, 10);
  check_times(segments, {{0, 0.3}, {0.3, 3}, {3, 3.3}, {3.3, 3.6}, {3.6, 4.2}, {9, 9.3}});
  // A long word may take longer.
  segments = {segment_of({{0, 0.9}, {0.9, 1.2}, {1.2, 1.5}, {1.5, 1.8}}, {" Unfortunately"})};
  place_words(segments, {}, 10);
  check_times(segments, {{0, 0.9}, {0.9, 1.2}, {1.2, 1.5}, {1.5, 1.8}});
}

TEST_CASE("starts in a gap move to its end, ends to its beginning") {
  const std::vector<SpeechSpan> speech{span(1, 2), span(3, 4)};
  CHECK(placed({{0.8, 1.2}}, speech) == Times{{1, 1.2}});
  CHECK(placed({{1.8, 2.3}}, speech) == Times{{1.8, 2}});
  CHECK(placed({{1.8, 2.3}, {2.3, 3.2}}, speech) == Times{{1.8, 2}, {3, 3.2}});
  CHECK(placed({{1.8, 3}, {3, 3.2}}, speech) == Times{{1.8, 2}, {3, 3.2}});
  // Across a gap, and exactly at its edges.
  CHECK(placed({{1.8, 3.1}}, speech) == Times{{1.8, 3.1}});
  CHECK(placed({{1, 2}, {3, 4}}, speech) == Times{{1, 2}, {3, 4}});
  // In a gap: moves to the nearer end; if the gap is at an end of the window, to the speech.
  CHECK(placed({{2.1, 2.3}}, speech) == Times{{2, 2}});
  CHECK(placed({{2.6, 2.9}}, speech) == Times{{3, 3}});
  CHECK(placed({{0.1, 0.3}}, speech) == Times{{1, 1}});
  CHECK(placed({{9, 9.4}}, speech) == Times{{4, 4}});
  // Without known speech nothing moves.
  CHECK(placed({{0.1, 0.3}}, {}) == Times{{0.1, 0.3}});
}

TEST_CASE("a border between words moves to the nearest pause") {
  const std::vector<SpeechSpan> speech{span(1, 2), span(2.5, 4)};
  CHECK(placed({{1, 1.8}, {1.8, 3}}, speech) == Times{{1, 2}, {2.5, 3}});
  CHECK(placed({{1, 1.2}, {1.2, 2.75}, {2.75, 3}}, speech) == Times{{1, 1.2}, {1.2, 2}, {2.5, 3}});
  // The nearest of two borders, and each border only once.
  CHECK(placed({{1, 1.9}, {1.9, 2.8}, {2.8, 3}}, speech) == Times{{1, 2}, {2.5, 2.8}, {2.8, 3}});
  const std::vector<SpeechSpan> twice{span(1, 2), span(2.1, 2.2), span(2.4, 4)};
  CHECK(placed({{1, 2.05}, {2.05, 3}}, twice) == Times{{1, 2}, {2.1, 3}});
  // Too far away: relative to the pause's length, and absolutely.
  CHECK(placed({{1, 1.6}, {1.6, 3}}, speech) == Times{{1, 1.6}, {1.6, 3}});
  CHECK(placed({{1, 1.75}, {1.75, 3}}, {span(1, 2), span(2.1, 4)}) == Times{{1, 1.75}, {1.75, 3}});
}

TEST_CASE("for any input times, words are in order, without overlap, inside the window") {
  std::mt19937 random(test::seed());
  for (int round = 0; round < 5'000; ++round) {
    const double seconds = std::uniform_real_distribution(0.02, 30.0)(random);
    std::uniform_real_distribution time(-1.0, seconds + 1);
    std::vector<Segment> segments(random() % 4);
    for (Segment& segment : segments) {
      Times times(1 + random() % 6);
      for (auto& [start, end] : times) start = time(random), end = time(random);
      segment = segment_of(times, {round % 3 == 0 ? " one." : " one"});
    }
    std::vector<SpeechSpan> speech;
    std::size_t at = 0;
    const auto samples = static_cast<std::size_t>(seconds * kSampleRate);
    for (std::size_t i = random() % 4; i > 0 && at + 2 < samples; --i) {
      const std::size_t begin = at + random() % (samples - at), end = begin + 1 + random() % (samples - begin);
      speech.push_back({begin, std::min(end, samples)});
      at = speech.back().end;
    }
    place_words(segments, speech, seconds);
    double last = 0.0;
    for (const Segment& segment : segments) {
      for (const Word& word : segment.words) {
        REQUIRE(word.start_seconds >= last);
        REQUIRE(word.end_seconds >= word.start_seconds);
        last = word.end_seconds;
      }
      CHECK(segment.start_seconds == segment.words.front().start_seconds);
      CHECK(segment.end_seconds == segment.words.back().end_seconds);
    }
    REQUIRE(last <= seconds);
    // No word begins in a gap, unless it was shortened there.
    for (const auto& [start, end] : times_of(segments)) {
      const auto holds = [s = start](const SpeechSpan& span) {
        return s * kSampleRate > static_cast<double>(span.begin) - 1 &&
               s * kSampleRate < static_cast<double>(span.end) + 1;
      };
      if (!speech.empty()) CHECK(std::ranges::any_of(speech, holds));
    }
  }
}

}  // namespace verbatim::alignment

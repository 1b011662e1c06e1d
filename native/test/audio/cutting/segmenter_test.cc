#include "audio/cutting/segmenter.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "audio/cutting/recording.h"
#include "support/seed.h"

using namespace verbatim;
using namespace verbatim::test;

namespace {

WindowPolicy full() { return {}; }
WindowPolicy by_pauses() {
  return {.max_seconds = 8, .cut = WindowPolicy::Cut::kPause, .min_pause_seconds = 0.15, .search_seconds = 3};
}

double covered(const std::vector<Window>& windows, Recording::Span span) {
  double sum = 0;
  for (const Window& window : windows) {
    for (const auto& [begin, end] : pieces(window)) {
      sum += std::max(0.0, std::min(span.end, static_cast<double>(end) / kSampleRate) -
                               std::max(span.begin, static_cast<double>(begin) / kSampleRate));
    }
  }
  return sum / (span.end - span.begin);
}

void check_covered(const std::vector<Window>& windows, const Recording& recording) {
  for (const auto& span : recording.spoken()) {
    CAPTURE(span.begin);
    CHECK(covered(windows, span) == doctest::Approx(1.0).epsilon(1e-4));
  }
}

// No cut lies within speech.
void check_cuts(const std::vector<Window>& windows, const Recording& recording) {
  for (const Window& window : windows) {
    for (const auto& span : recording.spoken()) {
      CAPTURE(span.begin);
      for (const double edge : {window.start_seconds(), window.end_seconds()}) {
        CHECK_FALSE((edge > span.begin + 0.05 && edge < span.end - 0.05));
      }
    }
  }
}

double total(const std::vector<Window>& windows) {
  double sum = 0;
  for (const Window& window : windows) sum += window.seconds();
  return sum;
}

}  // namespace

TEST_CASE("digital silence is dropped, and the rest keeps its place and a small margin") {
  Recording recording;
  recording.silence(10).speech(3, -20).silence(60).speech(2, -20).silence(5);
  for (const auto& policy : {full(), by_pauses()}) {
    const auto windows = recording.cut(policy);
    REQUIRE(windows.size() == 2);
    check_covered(windows, recording);
    CHECK(windows[0].start_seconds() == doctest::Approx(10 - 0.1).epsilon(0.003));
    CHECK(windows[1].start_seconds() == doctest::Approx(73 - 0.1).epsilon(0.003));
    CHECK(total(windows) < 5.8);
  }
}

TEST_CASE("nothing but silence yields no window") {
  for (const auto& policy : {full(), by_pauses()}) {
    CHECK(Recording().silence(20).cut(policy).empty());
    CHECK(Recording(-80).silence(20).cut(policy).empty());
    CHECK(Recording().silence(0.004).cut(policy).empty());
  }
}

TEST_CASE("long pauses in a noisy room are dropped as well") {
  Recording recording(-55);
  recording.silence(8).speech(3, -15).silence(20).speech(4, -15).silence(20);
  const auto windows = recording.cut(by_pauses());
  check_covered(windows, recording);
  CHECK(total(windows) < 9);
}

TEST_CASE("quiet speech survives: alone, behind loud speech, behind a click, in front of either") {
  for (const auto& policy : {full(), by_pauses()}) {
    Recording alone;
    check_covered(alone.silence(2).speech(6, -45).silence(2).cut(policy), alone);
    Recording in_noise(-70);
    check_covered(in_noise.silence(3).speech(6, -45).silence(3).cut(policy), in_noise);
    Recording behind(-75);
    behind.silence(1).speech(30, -6).silence(2).speech(5, -45).silence(3).speech(5, -45).silence(2);
    check_covered(behind.cut(policy), behind);
    Recording clicked(-75);
    clicked.silence(2).click().silence(2).speech(5, -45).silence(2).click().silence(5).speech(3, -45);
    check_covered(clicked.cut(policy), clicked);
    Recording before(-75);
    before.speech(5, -45).silence(2).speech(20, -6).silence(1).speech(4, -45);
    check_covered(before.cut(policy), before);
    Recording loud_noise(-30);
    check_covered(loud_noise.silence(2).speech(5, -18).silence(1).speech(5, -18).silence(2).cut(policy), loud_noise);
  }
}

TEST_CASE("noise that is nearly as loud as the speech is dropped where it goes on alone") {
  Recording recording(-32);
  recording.silence(6).speech(3, -12).silence(8).speech(4, -12).silence(0.5).speech(2, -12).silence(6);
  for (const auto& policy : {full(), by_pauses()}) {
    const auto windows = recording.cut(policy);
    check_covered(windows, recording);
    CHECK(total(windows) < 20);
  }
}

TEST_CASE("every window names its stretches of speech") {
  Recording recording(-65);
  recording.silence(1).speech(1, -20).silence(0.4).speech(2, -20).silence(1);
  const auto windows = recording.cut(full());
  REQUIRE(windows.size() == 1);
  REQUIRE(windows[0].speech.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& [begin, end] = windows[0].speech[i];
    CHECK(begin < end);
    CHECK(end <= windows[0].samples.size());
    const double start = windows[0].start_seconds();
    // The voice of the recording is soft at both ends.
    CHECK(std::abs(start + static_cast<double>(begin) / kSampleRate - recording.spoken()[i].begin) < 0.05);
    CHECK(std::abs(start + static_cast<double>(end) / kSampleRate - recording.spoken()[i].end) < 0.05);
  }
}

TEST_CASE("a click alone is no window") {
  Recording recording;
  const auto windows = recording.silence(3).click().silence(3).cut(by_pauses());
  CHECK(windows.empty());
}

TEST_CASE("the shortest words survive") {
  Recording recording(-70);
  recording.silence(2).speech(0.25, -25).silence(2).speech(0.25, -40).silence(2);
  const auto windows = recording.cut(by_pauses());
  REQUIRE(windows.size() == 2);
  check_covered(windows, recording);
}

TEST_CASE("pauses: sentences become windows of their own, cut in the pauses") {
  Recording recording(-65);
  recording.silence(0.4);
  for (int i = 0; i < 20; ++i) recording.speech(2.0 + 0.25 * (i % 5), -20).silence(0.3 + 0.05 * (i % 4));
  const auto windows = recording.cut(by_pauses());
  check_covered(windows, recording);
  check_cuts(windows, recording);
  CHECK(windows.size() >= 16);
  CHECK(windows.size() <= 20);
}

TEST_CASE("pauses: neighbouring windows share a short one, and keep a tenth of a second each of a long one") {
  for (const double pause : {0.2, 0.36, 0.5, 0.75, 1.5}) {
    Recording recording(-65);
    recording.silence(0.1).speech(4.5, -20).silence(pause).speech(4.5, -20).silence(0.1);
    const auto windows = recording.cut(by_pauses());
    CAPTURE(pause);
    REQUIRE(windows.size() == 2);
    check_covered(windows, recording);
    const double between = windows[1].start_seconds() - windows[0].end_seconds();
    // The voice of the recording is soft at both ends.
    CHECK(std::abs(between - (pause > 0.4 ? pause - 0.2 : 0)) < 0.05);
  }
}

TEST_CASE("pauses: short utterances are joined, a last short word is not left alone") {
  Recording recording(-65);
  recording.silence(0.4).speech(0.5, -20).silence(0.2).speech(0.75, -20).silence(0.2).speech(0.75, -20);
  recording.silence(0.5).speech(2.5, -20).silence(0.2).speech(0.5, -20).silence(2);
  const auto windows = recording.cut(by_pauses());
  check_covered(windows, recording);
  REQUIRE(windows.size() == 2);
  CHECK(windows[1].start_seconds() > 2.8);
}

TEST_CASE("speech without a pause is cut at its quietest place, not before the search begins") {
  Recording recording(-65);
  // The dip of 0.1 s between these two is too short for a pause.
  recording.speech(6.5, -20).silence(0.1).speech(6.5, -20);
  const auto windows = recording.cut(by_pauses());
  check_covered(windows, recording);
  REQUIRE(windows.size() == 2);
  CHECK(windows[0].end_seconds() == doctest::Approx(6.55).epsilon(0.01));
}

TEST_CASE("published models: windows are filled up to 30 s and cut at the quietest place of the last seconds") {
  Recording recording(-65);
  for (int i = 0; i < 40; ++i) recording.speech(2.75, -20).silence(0.4);
  const auto windows = recording.cut(full());
  check_covered(windows, recording);
  check_cuts(windows, recording);
  CHECK(windows.size() <= 6);
  for (std::size_t i = 0; i + 1 < windows.size(); ++i) {
    CHECK(windows[i].end_seconds() - windows[i].start_seconds() >= 25);
  }
}

TEST_CASE("published models: longer silence is left out of a window, and the rest keeps its place") {
  Recording recording(-65);
  recording.silence(1);
  for (int i = 0; i < 6; ++i) recording.speech(3, -20).silence(0.4).speech(2, -20).silence(3.5);
  const auto windows = recording.cut(full());
  check_covered(windows, recording);
  check_cuts(windows, recording);
  // 30 s of speech and 6 pauses of 0.4 s.
  REQUIRE(windows.size() == 2);
  CHECK(windows[0].skips.size() >= 4);
  CHECK(total(windows) < 35);
  for (const Window& window : windows) {
    for (const Skip& skip : window.skips) CHECK(skip.length > 3 * kSampleRate);
    const TimeLine line = window.time_line();
    for (const auto& [begin, end] : window.speech) {
      const double from = line.of_start(static_cast<double>(begin) / kSampleRate);
      const double to = line.of_end(static_cast<double>(end) / kSampleRate);
      // The voice of the recording is soft at both ends.
      CHECK(std::any_of(recording.spoken().begin(), recording.spoken().end(), [&](const auto& span) {
        return std::abs(span.begin - from) < 0.06 && std::abs(span.end - to) < 0.06;
      }));
    }
  }
}

TEST_CASE("published models: a pause hardly longer than its two margins stays whole") {
  Recording recording(-65);
  recording.silence(1).speech(3, -20).silence(0.3).speech(3, -20).silence(1);
  const auto windows = recording.cut(full());
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].skips.empty());
}

TEST_CASE("published models: the span of a window with its left-out silence is bounded") {
  Recording recording(-65);
  for (int i = 0; i < 30; ++i) recording.speech(0.5, -20).silence(3.5);
  const auto windows = recording.cut(full());
  check_covered(windows, recording);
  for (const Window& window : windows) CHECK(window.end_seconds() - window.start_seconds() <= 60);
  CHECK(windows.size() == 2);
}

TEST_CASE("a constant offset and hum do not hide pauses") {
  Recording recording(-70);
  recording.silence(1);
  for (int i = 0; i < 8; ++i) recording.speech(2.5, -20).silence(0.5);
  const TemporaryDirectory directory;
  auto samples = recording.samples();
  for (float& sample : samples) sample += 0.2f;
  const auto path = write_audio(directory / "offset.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, kSampleRate, 1, samples);
  AudioReader reader(path);
  Segmenter segmenter(reader, by_pauses());
  std::vector<Window> windows;
  while (auto window = segmenter.next()) windows.push_back(std::move(*window));
  check_covered(windows, recording);
  check_cuts(windows, recording);
  CHECK(windows.size() >= 7);
}

TEST_CASE("steady noise without speech is either dropped or kept as a whole") {
  Recording recording(-30);
  recording.silence(40);
  const auto windows = recording.cut(by_pauses());
  CHECK(total(windows) == doctest::Approx(40).epsilon(0.02));
}

TEST_CASE("random recordings: speech is covered exactly once under every policy") {
  std::mt19937 random(test::seed());
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
  for (int round = 0; round < 12; ++round) {
    // In a louder room the faint parts of the quietest speech are lost in the noise.
    Recording recording(uniform(-90, -60));
    for (int i = 0; i < 12; ++i) {
      recording.silence(uniform(0, 1) < 0.2 ? uniform(2, 12) : uniform(0.1, 0.8));
      recording.speech(uniform(0.3, 12), uniform(-32, -6));
      if (uniform(0, 1) < 0.2) recording.click();
    }
    // Where a file ends within a syllable that fades, nothing shows that its quiet end is more than the room's noise.
    recording.silence(0.5);
    WindowPolicy policy;
    policy.max_seconds = uniform(1, 30);
    policy.search_seconds = uniform(0.1, 1) * policy.max_seconds;
    policy.cut = round % 2 == 0 ? WindowPolicy::Cut::kPause : WindowPolicy::Cut::kQuietest;
    policy.min_pause_seconds = uniform(0.1, 0.5);
    CAPTURE(round);
    check_covered(recording.cut(policy), recording);
  }
}

TEST_CASE("a policy out of range is refused") {
  const TemporaryDirectory directory;
  AudioReader reader(
      write_audio(directory / "a.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, kSampleRate, 1, tone(1, kSampleRate, 440)));
  const auto refused = [&](WindowPolicy policy) {
    try {
      Segmenter segmenter(reader, policy);
      return false;
    } catch (const EngineError& error) {
      return error.code() == ErrorCode::kInvalidArgument;
    }
  };
  CHECK_FALSE(refused(full()));
  CHECK(refused({.max_seconds = 0}));
  CHECK(refused({.max_seconds = 31}));
  CHECK(refused({.max_seconds = std::nan("")}));
  CHECK(refused({.max_seconds = 8, .search_seconds = 0}));
  CHECK(refused({.max_seconds = 8, .search_seconds = 9}));
  CHECK(refused({.max_seconds = 8, .cut = WindowPolicy::Cut::kPause, .min_pause_seconds = 0, .search_seconds = 3}));
  CHECK(refused({.max_seconds = 8, .cut = WindowPolicy::Cut::kPause, .min_pause_seconds = 9, .search_seconds = 3}));
}

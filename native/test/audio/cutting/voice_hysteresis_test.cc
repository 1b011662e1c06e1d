#include "audio/cutting/voice_hysteresis.h"
#include "support/seed.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

using namespace verbatim;

namespace {

constexpr int kFrame = 160;

// Times are in frames of 10 ms here.
VoiceRules rules(double min_silence, double min_speech, double padding) {
  return {.onset = 0.5f,
          .offset = 0.3f,
          .min_silence = min_silence / 100,
          .min_speech = min_speech / 100,
          .padding = padding / 100};
}

// One character for each frame: # is 0.9, + is 0.4 (between onset and offset), . is 0.1, ? is NaN.
std::vector<float> frames(const std::string& text) {
  std::vector<float> values;
  for (const char c : text) values.push_back(c == '#' ? 0.9f : c == '+' ? 0.4f : c == '?' ? std::nanf("") : 0.1f);
  return values;
}

// The same frames with # for speech. Passed in pieces of so many frames; results are read as soon as they are decided.
std::string speech_in(const std::string& text, const VoiceRules& by, std::size_t piece = 1000) {
  VoiceHysteresis hysteresis(by, kFrame);
  const auto values = frames(text);
  const auto samples = static_cast<std::int64_t>(values.size()) * kFrame;
  std::string out;
  std::int64_t before = 0;
  const auto ask = [&] {
    CHECK(hysteresis.decided() >= before);
    before = hysteresis.decided();
    while (static_cast<std::int64_t>(out.size() + 1) * kFrame <= hysteresis.decided()) {
      const auto at = static_cast<std::int64_t>(out.size()) * kFrame;
      out += hysteresis.has_speech(at, at + kFrame) ? '#' : '.';
    }
  };
  for (std::size_t at = 0; at < values.size(); at += piece) {
    hysteresis.push(std::span(values).subspan(at, std::min(piece, values.size() - at)));
    ask();
  }
  hysteresis.finish(samples);
  ask();
  return out;
}

}  // namespace

TEST_CASE("speech begins at an onset and ends before the first unlikely frame") {
  CHECK(speech_in("..++##++..", rules(1, 0, 0)) == "....####..");
  CHECK(speech_in("##", rules(1, 0, 0)) == "##");
  CHECK(speech_in("....", rules(1, 0, 0)) == "....");
  CHECK(speech_in("", rules(1, 0, 0)) == "");
}

TEST_CASE("a probability between onset and offset neither begins nor ends speech") {
  CHECK(speech_in("++++", rules(1, 0, 0)) == "....");
  CHECK(speech_in("#+++++#...", rules(2, 0, 0)) == "#######...");
}

TEST_CASE("a silence that is too short is part of the speech") {
  CHECK(speech_in("##..##....", rules(3, 0, 0)) == "######....");
  CHECK(speech_in("##...##...", rules(3, 0, 0)) == "##...##...");
  // Only an onset cancels a silence.
  CHECK(speech_in("##.+.##...", rules(3, 0, 0)) == "##...##...");
}

TEST_CASE("speech that is too short is none") {
  CHECK(speech_in("..##...###..", rules(1, 3, 0)) == ".......###..");
  // The minimum length excludes the silence behind the speech.
  CHECK(speech_in("#.#...", rules(2, 3, 0)) == "###...");
  CHECK(speech_in("##...", rules(2, 3, 0)) == ".....");
}

TEST_CASE("padding widens speech, joins what it reaches and stays within the signal") {
  CHECK(speech_in("....##....", rules(1, 0, 2)) == "..######..");
  CHECK(speech_in("##..##....", rules(1, 0, 1)) == "#######...");
  CHECK(speech_in("#........#", rules(1, 0, 3)) == "####..####");
}

TEST_CASE("frames whose probability is not a number count as speech") {
  CHECK(speech_in("..??..", rules(1, 0, 0)) == "..##..");
}

TEST_CASE("a file may end in the middle of a frame") {
  VoiceHysteresis hysteresis(rules(1, 0, 5), kFrame);
  hysteresis.push(frames("..#"));
  hysteresis.finish(2 * kFrame + 7);
  CHECK(hysteresis.decided() == 2 * kFrame + 7);
  CHECK(hysteresis.has_speech(2 * kFrame, 2 * kFrame + 7));
}

TEST_CASE("the result does not depend on the pieces, and decided regions do not change") {
  std::mt19937 random(test::seed());
  for (int round = 0; round < 200; ++round) {
    std::string text;
    while (text.size() < 60) text += std::string(1 + random() % 6, "#+."[random() % 3]);
    const auto by = rules(random() % 6, random() % 6, random() % 5);
    const std::string whole = speech_in(text, by);
    CAPTURE(text);
    CHECK(speech_in(text, by, 1) == whole);
    CHECK(speech_in(text, by, 7) == whole);
  }
}

#include "audio/live/endpointer.h"

#include <doctest/doctest.h>

#include <string>

#include "audio/sample_rate.h"
#include "error.h"

using namespace verbatim;

namespace {

using Kind = LiveEvent::Kind;
constexpr int kChunk = 512;

LiveOptions options(int silence_ms = 320, int padding_ms = 0) {
  LiveOptions made;
  made.silence_ms = silence_ms;
  made.prefix_padding_ms = padding_ms;
  return made;
}

// Feeds a letter a chunk: # speech, ? neither, . silence; at / the utterance is ended, at x it is abandoned. Returns
// the events with their chunk, and for an end that of the speech: "start 2, stop 20/10".
std::string run(Endpointer& endpointer, const std::string& letters) {
  LiveEvents events;
  for (const char letter : letters) {
    if (letter == '/') {
      endpointer.end(events);
    } else if (letter == 'x') {
      endpointer.clear(endpointer.position());
    } else {
      endpointer.step(letter == '#' ? 0.9f : (letter == '?' ? 0.4f : 0.1f), kChunk, events);
    }
  }
  std::string text;
  const auto chunk = [](std::int64_t position) { return std::to_string(position / kChunk); };
  for (const LiveEvent& event : events) {
    if (!text.empty()) text += ", ";
    if (event.kind == Kind::kSpeechStarted) text += "start " + chunk(event.at);
    if (event.kind == Kind::kCut) text += "cut " + chunk(event.at);
    if (event.kind == Kind::kPause) text += "pause " + chunk(event.at) + "/" + chunk(event.speech_end);
    if (event.kind == Kind::kSpeechStopped) text += "stop " + chunk(event.at) + "/" + chunk(event.speech_end);
  }
  return text;
}

std::string run(const LiveOptions& rules, const std::string& letters) {
  Endpointer endpointer(rules);
  return run(endpointer, letters);
}

}  // namespace

TEST_CASE("an utterance lasts from its first speech to the end of the silence behind it") {
  CHECK(run(options(), "..####..........") == "start 2, stop 16/6");
  CHECK(run(options(), "..####.........") == "start 2");
  CHECK(run(options(), "####..........####..........") == "start 0, stop 14/4, start 14, stop 28/18");
  // 100 ms are three chunks and a bit.
  CHECK(run(options(100), "####....") == "start 0, stop 8/4");
}

TEST_CASE("a shorter silence, and what is neither speech nor silence, do not end an utterance") {
  CHECK(run(options(), "####.........##..........") == "start 0, stop 25/15");
  CHECK(run(options(), "####??????????????") == "start 0");
  // Silence goes on through doubt, as Silero's does.
  CHECK(run(options(), "####.?.?.?.?.?") == "start 0, stop 14/4");
}

TEST_CASE("a click is no speech: it begins no utterance and does not interrupt a silence") {
  CHECK(run(options(), "..#......#......").empty());
  CHECK(run(options(), "..##..........") == "start 2, stop 14/4");
  CHECK(run(options(), "####....#.........") == "start 0, stop 14/4");
  // What may be speech is decided first.
  CHECK(run(options(), "####.........#.") == "start 0, stop 15/4");
  CHECK(run(options(), "####.........##") == "start 0");
}

TEST_CASE("padding comes before speech, and takes nothing of the utterance before or of what was abandoned") {
  CHECK(run(options(320, 64), "....##..........") == "start 2, stop 16/6");
  CHECK(run(options(320, 320), "..##..........") == "start 0, stop 14/4");
  CHECK(run(options(320, 5000), "##..........##") == "start 0, stop 12/2, start 12");
  CHECK(run(options(320, 5000), "##..........######x....##") == "start 0, stop 12/2, start 12, start 18");
}

TEST_CASE("a pause is reported once for each silence, where it is shorter than the end") {
  LiveOptions rules = options(640);
  rules.pause_ms = 160;
  CHECK(run(rules, "##..........##.....") == "start 0, pause 7/2, pause 19/14");
  CHECK(run(rules, "##.......#...........") == "start 0, pause 7/2");
  rules.pause_ms = 640;
  CHECK(run(rules, "##....................") == "start 0, stop 22/2");
}

TEST_CASE("an utterance can be ended at any time, and the next one begins there") {
  CHECK(run(options(), "..####/") == "start 2, stop 6/6");
  CHECK(run(options(), "..####../.....") == "start 2, stop 8/6");
  CHECK(run(options(), "..####/####") == "start 2, stop 6/6, start 6");
  CHECK(run(options(), "..../").empty());
  CHECK(run(options(), "..#/...").empty());
  // An end without an utterance takes no padding away.
  CHECK(run(options(320, 5000), ".../..##") == "start 0");
}

TEST_CASE("without detection only a call ends an utterance, and nothing is left out") {
  LiveOptions rules = options();
  rules.detect = false;
  CHECK(run(rules, "....................").empty());
  CHECK(run(rules, "..../####................/") == "stop 4/4, stop 24/24");
  CHECK(run(rules, "....//..../") == "stop 4/4, stop 8/8");
  CHECK(run(rules, "....x..../") == "stop 8/8");
}

TEST_CASE("an utterance that was cut right here still ends") {
  for (const bool detect : {true, false}) {
    LiveOptions rules = options();
    rules.detect = detect;
    Endpointer endpointer(rules);
    run(endpointer, "####");
    LiveEvents events;
    endpointer.cut(endpointer.position(), events);
    CHECK(run(endpointer, "/") == "stop 4/4");
    CHECK(run(endpointer, "/").empty());
  }
}

TEST_CASE("detection can be switched at any time") {
  LiveOptions manual = options();
  manual.detect = false;
  Endpointer endpointer(options());
  CHECK(run(endpointer, "..####....") == "start 2");
  endpointer.configure(manual);
  CHECK(run(endpointer, "............").empty());
  endpointer.configure(options());
  // The utterance goes on, and has been silent since.
  CHECK(run(endpointer, ".........").empty());
  CHECK(run(endpointer, ".") == "stop 32/22");
  endpointer.configure(manual);
  CHECK(endpointer.piece_begin() == 32 * kChunk);
  endpointer.configure(options());
  CHECK_FALSE(endpointer.in_utterance());
  CHECK(run(endpointer, "............").empty());
  // Speech that is not long enough yet is in the utterance that begins.
  CHECK(run(endpointer, "#").empty());
  endpointer.configure(manual);
  CHECK(run(endpointer, "./") == "stop 46/46");
  CHECK(endpointer.last_end() == 46 * kChunk);
}

TEST_CASE("a longer or shorter silence is in force from the next chunk on") {
  Endpointer endpointer(options(640));
  CHECK(run(endpointer, "##............") == "start 0");
  endpointer.configure(options(320));
  CHECK(run(endpointer, ".") == "stop 15/2");
}

TEST_CASE("the threshold moves both limits, and has sensible ends") {
  const auto started = [](float threshold, float probability) {
    LiveOptions rules = options();
    rules.threshold = threshold;
    Endpointer endpointer(rules);
    LiveEvents events;
    for (int i = 0; i < 4; ++i) endpointer.step(probability, kChunk, events);
    return !events.empty();
  };
  CHECK(started(0.5f, 0.5f));
  CHECK_FALSE(started(0.5f, 0.49f));
  CHECK(started(1.0f, 0.96f));
  CHECK_FALSE(started(0.0f, 0.0f));
  CHECK(started(0.0f, 0.06f));
}

TEST_CASE("options out of range are refused by name") {
  const auto refusal = [](auto&& change) -> std::string {
    LiveOptions rules;
    change(rules);
    try {
      check_live_options(rules);
    } catch (const EngineError& error) {
      CHECK(error.code() == ErrorCode::kInvalidArgument);
      const std::string message = error.what();
      return message.substr(0, message.find(' '));
    }
    return "accepted";
  };
  CHECK(refusal([](LiveOptions&) {}) == "accepted");
  CHECK(refusal([](LiveOptions& rules) { rules.threshold = 1.1f; }) == "threshold");
  CHECK(refusal([](LiveOptions& rules) { rules.threshold = std::stof("nan"); }) == "threshold");
  CHECK(refusal([](LiveOptions& rules) { rules.prefix_padding_ms = -1; }) == "prefix_padding_ms");
  CHECK(refusal([](LiveOptions& rules) { rules.silence_ms = 99; }) == "silence_ms");
  CHECK(refusal([](LiveOptions& rules) { rules.pause_ms = 60001; }) == "pause_ms");
  CHECK(refusal([](LiveOptions& rules) { rules.longest_seconds = 0.5; }) == "longest_seconds");
  CHECK(refusal([](LiveOptions& rules) { rules.search_seconds = 31; }) == "search_seconds");
}

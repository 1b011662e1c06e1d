// libFuzzer target: a live signal of any bytes, split and interrupted in any way.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "audio/live/live_audio.h"
#include "error.h"

namespace {

using namespace verbatim;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// Numbers from the input, 0 at its end.
class Input {
 public:
  explicit Input(std::span<const std::byte> bytes) : left_(bytes) {}
  bool empty() const { return left_.empty(); }
  int number() {
    if (left_.empty()) return 0;
    return std::to_integer<int>(take(1)[0]);
  }
  std::span<const std::byte> take(std::size_t count) {
    const auto taken = left_.first(std::min(count, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const std::byte> left_;
};

LiveOptions options(Input& input) {
  LiveOptions made;
  made.threshold = static_cast<float>(input.number()) / 255;
  made.prefix_padding_ms = input.number() * 19;
  made.silence_ms = 100 + input.number();
  made.pause_ms = input.number();
  made.detect = input.number() % 4 != 0;
  made.longest_seconds = 1 + input.number() % 4;
  made.search_seconds = made.longest_seconds * (1 + input.number() % 10) / 10;
  return made;
}

void check(const LiveAudio& live, const LiveEvents& events) {
  require(live.kept_from() <= live.position(), "what is kept is a part of the signal");
  require(live.position() - live.kept_from() <= (LiveAudio::kMostKeptSeconds + 1) * 16000, "memory is bounded");
  for (const LiveEvent& event : events) {
    const bool starts = event.kind == LiveEvent::Kind::kSpeechStarted;
    require(event.at >= 0, "positions are in the signal");
    require(starts || event.at <= live.position(), "the samples before an event are there");
  }
  for (const float sample : live.samples(live.kept_from(), live.position())) {
    require(std::isfinite(sample), "samples are finite");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(std::as_bytes(std::span(data, size)));
  const SampleFormat format{.encoding = static_cast<SampleEncoding>(input.number() % 4),
                            .sample_rate = 8000 + 157 * input.number() % 40001,
                            .channels = 1 + input.number() % 4};
  LiveAudio live(format, options(input), nullptr);
  while (!input.empty()) {
    const int call = input.number();
    LiveEvents events;
    if (call < 192) {
      // A piece, several times over: some bytes stand for seconds.
      const auto piece = input.take(static_cast<std::size_t>(1 + 4 * input.number()));
      for (int times = input.number() % 32; times >= 0; --times) {
        for (const LiveEvent& event : live.push(piece)) events.push_back(event);
      }
    } else if (call < 216) {
      events = live.end_utterance();
    } else if (call < 232) {
      live.configure(options(input));
    } else if (call < 240) {
      live.clear();
    } else {
      live.discard_before(live.kept_from() + 100 * input.number());
    }
    check(live, events);
  }
  return 0;
}

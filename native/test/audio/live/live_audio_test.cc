#include "audio/live/live_audio.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>

#include "audio/cutting/recording.h"
#include "audio/cutting/voice_activity_model.h"
#include "audio/decoded_audio.h"
#include "error.h"
#include "support/seed.h"

using namespace verbatim;
using namespace verbatim::test;

namespace {

using Kind = LiveEvent::Kind;
constexpr std::int64_t kChunk = VoiceActivityModel::kFrameSamples;
constexpr SampleFormat kFloats{.encoding = SampleEncoding::kFloat32};

// Detects whatever is louder than -50 dBFS, and counts its frames.
class LevelModel final : public VoiceActivityModel {
 public:
  std::unique_ptr<VoiceActivityStream> open() const override { return std::make_unique<Stream>(frames_); }
  int frames() const { return *frames_; }

 private:
  class Stream final : public VoiceActivityStream {
   public:
    explicit Stream(std::shared_ptr<int> frames) : frames_(std::move(frames)) {}
    void probabilities(std::span<const float> samples, std::span<float> out) override {
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = level(samples.subspan(i * kFrameSamples, kFrameSamples)) > 0.003 ? 0.9f : 0.1f;
        ++*frames_;
      }
    }

   private:
    const std::shared_ptr<int> frames_;
  };
  const std::shared_ptr<int> frames_ = std::make_shared<int>(0);
};

std::span<const std::byte> bytes_of(std::span<const float> samples) { return std::as_bytes(samples); }

LiveEvents push_all(LiveAudio& live, std::span<const std::byte> bytes, std::size_t piece = 6400) {
  LiveEvents events;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(piece, bytes.size()))) {
    for (const LiveEvent& event : live.push(bytes.first(std::min(piece, bytes.size())))) events.push_back(event);
  }
  return events;
}

LiveEvents push_all(LiveAudio& live, const Recording& recording) {
  return push_all(live, bytes_of(recording.samples()));
}

double seconds(std::int64_t position) { return static_cast<double>(position) / kSampleRate; }

// Utterances begin before the recording's speech and end behind it, as far as the options say.
void check_utterances(const LiveEvents& events, const Recording& recording, const LiveOptions& options) {
  REQUIRE(events.size() == 2 * recording.spoken().size());
  for (std::size_t i = 0; i < recording.spoken().size(); ++i) {
    CAPTURE(i);
    const LiveEvent& start = events[2 * i];
    const LiveEvent& stop = events[2 * i + 1];
    const auto& [begin, end] = recording.spoken()[i];
    CHECK(start.kind == Kind::kSpeechStarted);
    CHECK(stop.kind == Kind::kSpeechStopped);
    CHECK(seconds(start.at) <= begin);
    CHECK(seconds(start.at) >= begin - options.prefix_padding_ms / 1000.0 - 0.1);
    CHECK(std::abs(seconds(stop.speech_end) - end) < 0.15);
    CHECK(seconds(stop.at - stop.speech_end) == doctest::Approx(options.silence_ms / 1000.0).epsilon(0.08));
  }
}

template <typename Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const EngineError& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

// What a session has reported: the events, the samples of its finished pieces, and where it stands.
struct Session {
  LiveEvents events;
  std::vector<std::vector<float>> pieces;
  std::int64_t position = 0;

  bool operator==(const Session&) const = default;
};

// Takes the pieces out as a caller does.
class Caller {
 public:
  explicit Caller(LiveAudio& live) : live_(live) {}

  void take(const LiveEvents& events) {
    for (const LiveEvent& event : events) {
      session_.events.push_back(event);
      if (event.kind == Kind::kSpeechStarted) begin_ = event.at;
      if (event.kind != Kind::kCut && event.kind != Kind::kSpeechStopped) continue;
      session_.pieces.push_back(live_.samples(begin_, event.at));
      live_.discard_before(event.at);
      begin_ = event.at;
    }
    session_.position = live_.position();
  }
  // Behind a call that may begin an utterance without an event.
  void look() { begin_ = live_.utterance_begin().value_or(live_.position()); }

  const Session& session() const { return session_; }

 private:
  LiveAudio& live_;
  std::int64_t begin_ = 0;
  Session session_;
};

// A call at a place in the bytes.
struct Action {
  std::size_t at = 0;
  int kind = 0;
  LiveOptions options;
};

class Randomly {
 public:
  explicit Randomly(std::uint32_t start) : engine_(start) {}
  int any(int from, int to) { return std::uniform_int_distribution<int>(from, to)(engine_); }

  LiveOptions options() {
    LiveOptions made;
    made.threshold = static_cast<float>(any(0, 100)) / 100;
    made.prefix_padding_ms = any(0, 500);
    made.silence_ms = any(100, 700);
    made.pause_ms = any(0, 1) * any(50, 400);
    made.detect = any(0, 3) != 0;
    made.longest_seconds = any(1, 6);
    made.search_seconds = made.longest_seconds * any(1, 10) / 10;
    return made;
  }

  std::vector<std::byte> signal(const SampleFormat& format) {
    const std::size_t frames = static_cast<std::size_t>(format.sample_rate) * static_cast<std::size_t>(any(3, 9));
    std::vector<std::byte> bytes;
    float loudness = 0;
    for (std::size_t i = 0; i < frames; ++i) {
      if (i % 4000 == 0) loudness = any(0, 2) == 0 ? 0.0f : std::pow(10.0f, static_cast<float>(any(-80, -10)) / 20);
      for (int channel = 0; channel < format.channels; ++channel) append(format, noise() * loudness, bytes);
    }
    return bytes;
  }

 private:
  float noise() { return static_cast<float>(any(-1000, 1000)) / 1000; }

  void append(const SampleFormat& format, float value, std::vector<std::byte>& out) {
    if (format.encoding == SampleEncoding::kFloat32) return append(value, out);
    if (format.encoding == SampleEncoding::kInt16) return append(static_cast<std::int16_t>(value * 32767), out);
    out.push_back(static_cast<std::byte>(any(0, 255)));
  }
  template <typename T>
  static void append(T value, std::vector<std::byte>& out) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }

  std::mt19937 engine_;
};

Session run(const SampleFormat& format, const LiveOptions& options, const VoiceActivityModel* voice,
            std::span<const std::byte> bytes, std::vector<Action> actions, const std::function<std::size_t()>& piece) {
  LiveAudio live(format, options, voice);
  Caller caller(live);
  std::size_t at = 0;
  actions.push_back({.at = bytes.size(), .kind = 0});
  for (const Action& action : actions) {
    while (at < action.at) {
      const std::size_t count = std::min(action.at - at, piece());
      caller.take(live.push(bytes.subspan(at, count)));
      at += count;
    }
    if (action.kind == 0) caller.take(live.end_utterance());
    if (action.kind == 1) live.configure(action.options);
    if (action.kind == 2) live.clear();
    caller.look();
  }
  return caller.session();
}

}  // namespace

TEST_CASE("live audio: results do not depend on how the bytes are split") {
  Randomly random(seed());
  const LevelModel model;
  std::size_t events = 0;
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    constexpr std::array kRates = {8000, 11025, 16000, 16000, 24000, 44100, 48000};
    const SampleFormat format{.encoding = static_cast<SampleEncoding>(random.any(0, 3)),
                              .sample_rate = kRates[static_cast<std::size_t>(random.any(0, 6))],
                              .channels = random.any(1, 3)};
    const LiveOptions options = random.options();
    const std::vector<std::byte> bytes = random.signal(format);
    std::vector<Action> actions(static_cast<std::size_t>(random.any(0, 4)));
    for (Action& action : actions) {
      action = {static_cast<std::size_t>(random.any(0, static_cast<int>(bytes.size()))), random.any(0, 2),
                random.options()};
    }
    std::ranges::sort(actions, {}, &Action::at);
    const VoiceActivityModel* voice = random.any(0, 1) == 0 ? nullptr : &model;
    const Session whole = run(format, options, voice, bytes, actions, [] { return std::size_t{1} << 20; });
    const Session pieces = run(format, options, voice, bytes, actions, [&] {
      return static_cast<std::size_t>(random.any(0, 20) == 0 ? random.any(1, 50000) : random.any(1, 2000));
    });
    CHECK(whole.events == pieces.events);
    CHECK(whole.pieces == pieces.pieces);
    CHECK(whole.position == pieces.position);
    events += whole.events.size();
  }
  CHECK(events > 100);
}

TEST_CASE("live audio: events are in order, and pieces follow one another") {
  Randomly random(seed() + 1);
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    LiveOptions options = random.options();
    options.detect = true;
    const std::vector<std::byte> bytes = random.signal(kFloats);
    const Session session = run(kFloats, options, nullptr, bytes, {}, [] { return std::size_t{4000}; });
    bool speaking = false;
    std::int64_t last = 0;
    for (const LiveEvent& event : session.events) {
      CHECK(speaking == (event.kind != Kind::kSpeechStarted));
      speaking = event.kind != Kind::kSpeechStopped;
      CHECK(event.at >= last);
      if (event.kind == Kind::kCut || event.kind == Kind::kSpeechStopped) {
        CHECK(seconds(event.at - last) <= options.longest_seconds);
      }
      if (event.kind == Kind::kSpeechStopped) CHECK(event.speech_end <= event.at);
      if (event.kind != Kind::kPause) last = event.at;
    }
    CHECK_FALSE(speaking);
  }
}

TEST_CASE("live audio: a signal is resampled and mixed as a file is") {
  for (const auto& [rate, channels] :
       {std::pair{8000, 1}, {11025, 2}, {16000, 2}, {22050, 1}, {44100, 2}, {48000, 1}}) {
    CAPTURE(rate);
    std::vector<float> samples(static_cast<std::size_t>(rate * channels));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      samples[i] =
          static_cast<float>(0.4 * std::sin(0.02 * static_cast<double>(i) + 1e-6 * static_cast<double>(i * i)));
    }
    const TemporaryDirectory directory;
    const auto path = write_audio(directory / "a.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate, channels, samples);
    LiveOptions options;
    options.detect = false;
    LiveAudio live({.encoding = SampleEncoding::kFloat32, .sample_rate = rate, .channels = channels}, options, nullptr);
    CHECK(push_all(live, bytes_of(samples), 999).empty());
    const std::int64_t delayed = live.position();
    CHECK(delayed > kSampleRate * 9 / 10);
    const LiveEvents events = live.end_utterance();
    REQUIRE(events.size() == 1);
    CHECK(events[0] == LiveEvent{.kind = Kind::kSpeechStopped, .at = kSampleRate, .speech_end = kSampleRate});
    CHECK(live.samples(0, kSampleRate) == decode_file(path).samples);
  }
}

TEST_CASE("live audio: no decision waits for the resampler, and the samples before it are there") {
  for (const int rate : {8000, 24000, 44100}) {
    CAPTURE(rate);
    std::vector<float> samples(static_cast<std::size_t>(rate));
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = 0.3f * std::sin(0.2f * static_cast<float>(i));
    samples.resize(2 * samples.size());
    LiveOptions options;
    options.pause_ms = 200;
    LiveAudio live({.encoding = SampleEncoding::kFloat32, .sample_rate = rate}, options, nullptr);
    std::vector<Kind> kinds;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      for (const LiveEvent& event : live.push(bytes_of(std::span(samples).subspan(i, 1)))) {
        kinds.push_back(event.kind);
        const double received = static_cast<double>(i + 1) / rate;
        if (event.kind != Kind::kSpeechStarted) {
          CHECK(seconds(event.at) <= received);
          CHECK(seconds(event.at) >= received - 0.01);
          CHECK(live.samples(0, event.at).size() == static_cast<std::size_t>(event.at));
        }
      }
    }
    CHECK(kinds == std::vector<Kind>{Kind::kSpeechStarted, Kind::kPause, Kind::kSpeechStopped});
    // Nothing is lost or doubled where the resampler began again.
    live.end_utterance();
    CHECK(live.position() == 2 * kSampleRate);
  }
}

TEST_CASE("live audio: speech is found by its level, in silence and in noise") {
  for (const double noise : {-200, -70, -45}) {
    CAPTURE(noise);
    Recording recording(noise);
    recording.silence(2).speech(2.0, -12).silence(1.5).speech(1.0, -18).silence(3).speech(4, -12).silence(1);
    const LiveOptions options;
    LiveAudio live(kFloats, options, nullptr);
    check_utterances(push_all(live, recording), recording, options);
  }
}

TEST_CASE("live audio: speech at the very start, and noise that becomes louder") {
  Recording recording(-65);
  recording.speech(2.0, -12).silence(2);
  LiveAudio live(kFloats, {}, nullptr);
  const LiveEvents events = push_all(live, recording);
  REQUIRE(events.size() == 2);
  CHECK(events[0].at == 0);
  CHECK(seconds(events[1].speech_end) == doctest::Approx(2).epsilon(0.05));
  // Louder noise is an utterance at first, and the background after some seconds.
  const auto louder = Recording(-40).silence(20).samples();
  const LiveEvents later = push_all(live, bytes_of(louder));
  REQUIRE(later.size() == 2);
  CHECK(seconds(later[1].at) < 4 + 8);
}

TEST_CASE("live audio: a model does not run over silence and steady noise, and speech that rises is not lost") {
  const LevelModel model;
  LiveAudio silent(kFloats, {}, &model);
  CHECK(push_all(silent, Recording().silence(20)).empty());
  CHECK(model.frames() <= 10);

  const LevelModel noisy_model;
  LiveAudio noisy(kFloats, {}, &noisy_model);
  CHECK(push_all(noisy, Recording(-60).silence(60)).empty());
  CHECK(noisy_model.frames() < 60);

  const LevelModel speech_model;
  Recording recording(-60);
  recording.silence(10).speech(2, -12).silence(3);
  LiveAudio live(kFloats, {}, &speech_model);
  check_utterances(push_all(live, recording), recording, {});
  // The speech, its silence, and what is before and behind it.
  CHECK(speech_model.frames() < (2 + 0.5 + 2) * 32);
}

TEST_CASE("live audio: when the level rises the model judges the audio right before") {
  // Loud for this model and at the noise floor for the level: steady, and interrupted long ago by something quieter.
  const LevelModel model;
  Recording recording(-45);
  recording.silence(2);
  std::vector<float> samples = Recording(-60).silence(4).samples();
  // A slow rise of 2 dB stays near the floor; what follows does not.
  for (std::size_t i = samples.size() - 5 * kChunk; i < samples.size(); ++i) samples[i] *= 4.2f;
  const auto loud = Recording(-30).silence(1).samples();
  samples.insert(samples.end(), loud.begin(), loud.end());
  LiveOptions options;
  options.prefix_padding_ms = 0;
  LiveAudio live(kFloats, options, &model);
  const LiveEvents events = push_all(live, bytes_of(samples));
  REQUIRE(events.size() == 1);
  CHECK(events[0].at <= static_cast<std::int64_t>(samples.size() - loud.size()));
  CHECK(events[0].at >= static_cast<std::int64_t>(samples.size() - loud.size()) - 6 * kChunk);
}

TEST_CASE("live audio: a long utterance is cut at its quietest places") {
  Recording recording(-60);
  recording.silence(1);
  for (int i = 0; i < 12; ++i) recording.speech(0.8, -12).silence(0.24);
  recording.silence(2);
  LiveOptions options;
  options.longest_seconds = 5;
  options.search_seconds = 2;
  LiveAudio live(kFloats, options, nullptr);
  const LiveEvents events = push_all(live, recording);
  REQUIRE(events.size() >= 4);
  std::int64_t last = events[0].at;
  for (std::size_t i = 1; i + 1 < events.size(); ++i) {
    REQUIRE(events[i].kind == Kind::kCut);
    CHECK(seconds(events[i].at - last) <= 5);
    CHECK(seconds(events[i].at - last) >= 3);
    last = events[i].at;
    const auto inside = [&](const Recording::Span& span) {
      return seconds(last) > span.begin + 0.05 && seconds(last) < span.end - 0.05;
    };
    CHECK(std::ranges::none_of(recording.spoken(), inside));
  }
  CHECK(events.back().kind == Kind::kSpeechStopped);
}

TEST_CASE("live audio: memory is bounded, whatever the caller does") {
  LiveAudio idle({.encoding = SampleEncoding::kInt16, .sample_rate = 16000}, {}, nullptr);
  const std::vector<std::byte> silence(32000);
  for (int i = 0; i < 300; ++i) idle.push(silence);
  CHECK(idle.position() == 300 * kSampleRate);
  CHECK(idle.position() - idle.kept_from() < kSampleRate);
  CHECK(idle.memory_bytes() < 100'000);

  LiveAudio greedy(kFloats, {}, nullptr);
  const auto noise = Recording(-20).silence(1).samples();
  const auto quiet = Recording(-80).silence(0.3).samples();
  for (int i = 0; i < 300; ++i) {
    greedy.push(bytes_of(noise));
    greedy.push(bytes_of(quiet));
  }
  CHECK(greedy.position() - greedy.kept_from() <= 121 * kSampleRate);
  CHECK(greedy.memory_bytes() < std::size_t{10} << 20);
  greedy.end_utterance();
  greedy.discard_before(greedy.position());
  CHECK(greedy.position() - greedy.kept_from() < kSampleRate);
  CHECK(greedy.memory_bytes() < 100'000);
}

TEST_CASE("live audio: an utterance is kept until it is discarded, also while the next one is spoken") {
  Recording recording(-65);
  recording.silence(1).speech(1, -12).silence(1.5).speech(1, -12).silence(1.5);
  LiveAudio live(kFloats, {}, nullptr);
  const LiveEvents events = push_all(live, recording);
  REQUIRE(events.size() == 4);
  CHECK(live.kept_from() <= events[0].at);
  const auto& samples = recording.samples();
  const auto kept = live.samples(events[0].at, events[1].at);
  CHECK(std::equal(kept.begin(), kept.end(), samples.begin() + events[0].at));
  live.discard_before(events[1].at);
  CHECK(live.kept_from() == events[1].at);
  CHECK(live.samples(events[2].at, events[3].at).size() == static_cast<std::size_t>(events[3].at - events[2].at));
  // Of what lies before, nothing comes back.
  live.discard_before(0);
  CHECK(live.kept_from() == events[1].at);
  live.discard_before(std::int64_t{1} << 50);
  CHECK(live.position() - live.kept_from() < kSampleRate);
  CHECK(refusal([&] { live.samples(0, 10); }).starts_with("samples 0 to 10 are not kept"));
  CHECK(refusal([&] { live.samples(live.position(), live.position() + 1); }).find("are not kept") != std::string::npos);
  CHECK(refusal([&] { live.samples(live.position(), live.position() - 1); }).find("are not kept") != std::string::npos);
  CHECK(live.samples(live.position(), live.position()).empty());
}

TEST_CASE("live audio: an utterance that is abandoned leaves nothing behind") {
  Recording recording(-65);
  recording.silence(1).speech(1, -12);
  LiveAudio live(kFloats, {}, nullptr);
  CHECK(push_all(live, recording).size() == 1);
  live.clear();
  CHECK(live.end_utterance().empty());
  CHECK(live.position() - live.kept_from() < kSampleRate);
  const std::int64_t cleared = live.position();
  const auto speech = Recording(-65).speech(1, -12).samples();
  const LiveEvents events = push_all(live, bytes_of(speech));
  REQUIRE(events.size() == 1);
  CHECK(events[0].at >= cleared);
}

TEST_CASE("live audio: more than ten seconds at once are refused, and nothing else is lost") {
  LiveAudio live({.encoding = SampleEncoding::kMuLaw, .sample_rate = 8000}, {}, nullptr);
  const std::vector<std::byte> bytes(80001, std::byte{0xff});
  CHECK(refusal([&] { live.push(bytes); }).find("10 seconds (80000 bytes)") != std::string::npos);
  live.push(std::span(bytes).first(80000));
  live.end_utterance();
  CHECK(seconds(live.position()) == doctest::Approx(10));
  CHECK(live.push({}).empty());
}

TEST_CASE("live audio: a model's failure is the caller's, and what it cannot judge is speech") {
  struct Model final : VoiceActivityModel {
    struct Stream final : VoiceActivityStream {
      explicit Stream(bool broken) : fails(broken) {}
      void probabilities(std::span<const float>, std::span<float> out) override {
        if (fails) throw EngineError(ErrorCode::kInternalError, "broken");
        std::ranges::fill(out, std::nanf(""));
      }
      const bool fails;
    };
    explicit Model(bool broken) : fails(broken) {}
    std::unique_ptr<VoiceActivityStream> open() const override { return std::make_unique<Stream>(fails); }
    const bool fails;
  };
  const auto noise = Recording(-40).silence(0.2).samples();
  const Model broken(true);
  LiveAudio failing(kFloats, {}, &broken);
  CHECK_THROWS_AS(failing.push(bytes_of(noise)), EngineError);
  const Model undecided(false);
  LiveAudio live(kFloats, {}, &undecided);
  CHECK(live.push(bytes_of(noise)).size() == 1);
}

#include "audio/cutting/voice_tracker.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <string_view>

#include "audio/cutting/segmenter.h"
#include "audio/decoded_audio.h"
#include "support/seed.h"

using namespace verbatim;
using namespace verbatim::test;

namespace {

constexpr int kFrame = SpeechTracker::kFrameSamples;
constexpr std::size_t kModelFrame = VoiceActivityModel::kFrameSamples;

// What the tracker requested from the model.
struct Asked {
  int streams = 0;
  int open = 0;
  std::size_t most_frames = 0;
  std::size_t frames = 0;
};

// Detects speech in a frame whose loudest sample is above 0.1.
class LoudStream final : public VoiceActivityStream {
 public:
  LoudStream(Asked& asked, float soft) : asked_(asked), soft_(soft) {
    ++asked_.streams;
    ++asked_.open;
  }
  ~LoudStream() override { --asked_.open; }

  void probabilities(std::span<const float> samples, std::span<float> out) override {
    CHECK(samples.size() == out.size() * kModelFrame);
    asked_.most_frames = std::max(asked_.most_frames, out.size());
    asked_.frames += out.size();
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto frame = samples.subspan(i * kModelFrame, kModelFrame);
      const float peak = std::abs(
          *std::max_element(frame.begin(), frame.end(), [](float a, float b) { return std::abs(a) < std::abs(b); }));
      CHECK(peak <= 1);
      out[i] = peak > 0.1f ? 0.9f : soft_;
    }
  }

 private:
  Asked& asked_;
  const float soft_;
};

class LoudIsSpeech final : public VoiceActivityModel {
 public:
  // soft: the probability of all other frames.
  explicit LoudIsSpeech(float soft = 0.02f) : soft_(soft) {}
  std::unique_ptr<VoiceActivityStream> open() const override { return std::make_unique<LoudStream>(asked, soft_); }
  mutable Asked asked;

 private:
  const float soft_;
};

// Alternating seconds of sound and silence, beginning with sound.
std::vector<float> turns(std::initializer_list<double> seconds, float loud = 0.5f, float soft = 0.02f) {
  std::vector<float> samples;
  float now = loud;
  for (const double length : seconds) {
    for (int i = 0; i < static_cast<int>(length * kSampleRate); ++i) samples.push_back(i % 2 == 0 ? now : -now);
    now = now == loud ? soft : loud;
  }
  return samples;
}

// So many seconds of this amplitude.
struct Sound {
  double seconds;
  float amplitude;
};
std::vector<float> joined(std::initializer_list<Sound> sounds) {
  std::vector<float> samples;
  for (const auto& [seconds, amplitude] : sounds) {
    const auto piece = turns({seconds}, amplitude);
    samples.insert(samples.end(), piece.begin(), piece.end());
  }
  return samples;
}

// The labels of a tenth of a second in the middle of the stretch with this end and length, seconds.
std::string_view middle(const std::string& labels, double end, double seconds) {
  return std::string_view(labels).substr(static_cast<std::size_t>((end - seconds / 2) * 100) - 5, 10);
}

constexpr std::string_view kSpeech = "##########";
constexpr std::string_view kNothing = "..........";

std::string labels(const std::vector<float>& samples, const VoiceActivityModel& model) {
  VoiceTracker tracker(model);
  std::string out;
  const auto read = [&] {
    while (static_cast<std::int64_t>(out.size()) < tracker.labelled()) {
      const auto& frame = tracker.at(static_cast<std::int64_t>(out.size()));
      if (frame.nothing) CHECK(frame.low);
      out += frame.nothing ? '.' : '#';
    }
    tracker.discard_before(tracker.labelled());
  };
  for (std::size_t at = 0; at < samples.size(); at += kFrame) {
    tracker.push(std::span(samples).subspan(at, std::min<std::size_t>(kFrame, samples.size() - at)));
    read();
  }
  tracker.finish();
  read();
  return out;
}

std::vector<Window> cut(const std::vector<float>& samples, const WindowPolicy& policy, const VoiceActivityModel& model,
                        const Effort& effort = {}, int* calls = nullptr) {
  const TemporaryDirectory directory;
  AudioReader reader(write_audio(directory / "a.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, kSampleRate, 1, samples));
  Segmenter segmenter(reader, policy, &model);
  std::vector<Window> windows;
  while (!segmenter.at_end()) {
    if (calls != nullptr) ++*calls;
    if (auto window = segmenter.next(effort)) windows.push_back(std::move(*window));
  }
  CHECK(segmenter.position() == static_cast<std::int64_t>(samples.size()));
  return windows;
}

WindowPolicy by_pauses() {
  return {.max_seconds = 8, .cut = WindowPolicy::Cut::kPause, .min_pause_seconds = 0.15, .search_seconds = 3};
}

}  // namespace

TEST_CASE("frames are speech where the model detects it, to a frame of its own and the padding") {
  const LoudIsSpeech model;
  const auto found = labels(turns({1, 2, 0.5, 20, 3}), model);
  REQUIRE(found.size() == 2650);
  const double edges[] = {0, 1, 3, 3.5, 23.5, 26.5};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double at = static_cast<double>(i) / 100;
    const auto edge = std::upper_bound(std::begin(edges), std::end(edges), at);
    const bool near =
        std::any_of(std::begin(edges), std::end(edges), [&](double place) { return std::abs(place - at) < 0.08; });
    CAPTURE(at);
    if (!near) CHECK((found[i] == '#') == ((edge - std::begin(edges)) % 2 == 1));
  }
}

TEST_CASE("a model receives blocks of a bounded length, each sample once, in one stream that ends with the file") {
  const LoudIsSpeech model;
  labels(turns({60}), model);
  CHECK(model.asked.most_frames == 250);
  CHECK(model.asked.frames == 1875);
  CHECK(model.asked.streams == 1);
  CHECK(model.asked.open == 0);
}

TEST_CASE("a stream ends with its tracker, in the middle of a file") {
  const LoudIsSpeech model;
  {
    VoiceTracker tracker(model);
    const auto samples = turns({9});
    CHECK(model.asked.open == 0);
    for (std::size_t at = 0; at < samples.size(); at += kFrame) tracker.push(std::span(samples).subspan(at, kFrame));
    CHECK(model.asked.open == 1);
  }
  CHECK(model.asked.open == 0);
}

TEST_CASE("a file of less than a frame, and one of nothing") {
  const LoudIsSpeech model;
  CHECK(labels({}, model) == "");
  CHECK(labels(turns({0.005}), model) == ".");
  CHECK(labels(turns({0.3}), model).find('.') == std::string::npos);
}

TEST_CASE("samples beyond full scale are clipped before the model receives them") {
  const LoudIsSpeech model;
  CHECK(labels(turns({0.5}, 900.0f), model).find('#') == 0);
}

TEST_CASE("sound above the background is speech near detected speech, and not elsewhere") {
  const LoudIsSpeech model;
  const auto found = labels(joined({{4, 0.001f}, {1, 0.5f}, {1, 0.05f}, {4, 0.001f}, {1, 0.05f}, {4, 0.001f}}), model);
  CHECK(middle(found, 5, 1) == kSpeech);
  CHECK(middle(found, 6, 1) == kSpeech);
  CHECK(middle(found, 7, 1) == kNothing);
  CHECK(middle(found, 11, 1) == kNothing);
}

TEST_CASE("possible speech counts only where it rises above the background") {
  const LoudIsSpeech model(0.3f);
  const auto found = labels(joined({{4, 0.001f}, {1, 0.05f}, {4, 0.001f}, {1, 0.5f}, {4, 0.001f}}), model);
  CHECK(middle(found, 2, 1) == kNothing);
  CHECK(middle(found, 5, 1) == kSpeech);
  CHECK(middle(found, 7, 1) == kNothing);
}

TEST_CASE("a fluctuating background does not count as rising above itself") {
  const LoudIsSpeech model;
  std::vector<float> samples = turns({3}, 0.03f);
  for (int i = 0; i < 3; ++i) {
    const auto piece = joined({{0.4, 0.03f}, {0.5, 0.043f}, {1, 0.15f}});
    samples.insert(samples.end(), piece.begin(), piece.end());
  }
  const auto found = labels(samples, model);
  for (int i = 0; i < 3; ++i) {
    CHECK(middle(found, 3.9 + 1.9 * i, 0.5) == kNothing);
    CHECK(middle(found, 4.9 + 1.9 * i, 1) == kSpeech);
  }
}

TEST_CASE("digital silence is no speech, whatever the model detects in it") {
  const LoudIsSpeech model(0.9f);
  const auto found = labels(joined({{1, 0.5f}, {1, 0.0f}, {1, 0.5f}}), model);
  CHECK(middle(found, 1, 1) == kSpeech);
  CHECK(middle(found, 2, 1) == kNothing);
}

TEST_CASE("windows hold speech alone: loud noise is dropped too") {
  const LoudIsSpeech model;
  const auto samples = turns({2, 5, 3, 10, 1}, 0.5f, 0.09f);
  for (const WindowPolicy& policy : {WindowPolicy{}, by_pauses()}) {
    const auto windows = cut(samples, policy, model);
    REQUIRE(windows.size() == 3);
    const double begins[] = {0, 7, 20};
    const double ends[] = {2, 10, 21};
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(std::abs(windows[i].start_seconds() - begins[i]) < 0.35);
      CHECK(std::abs(windows[i].end_seconds() - ends[i]) < 0.35);
      REQUIRE(windows[i].speech.size() == 1);
      const auto& [begin, end] = windows[i].speech[0];
      CHECK(std::abs(windows[i].start_seconds() + static_cast<double>(begin) / kSampleRate - begins[i]) < 0.08);
      CHECK(std::abs(windows[i].start_seconds() + static_cast<double>(end) / kSampleRate - ends[i]) < 0.08);
    }
  }
}

TEST_CASE("the map of a window's speech is that of the file") {
  const LoudIsSpeech model;
  const auto windows = cut(turns({1, 0.3, 1, 0.3, 1}), by_pauses(), model);
  REQUIRE(windows.size() == 1);
  REQUIRE(windows[0].speech.size() == 3);
  std::size_t last = 0;
  for (const auto& [begin, end] : windows[0].speech) {
    CHECK(begin >= last);
    CHECK(end > begin);
    last = end;
  }
  CHECK(last <= windows[0].samples.size());
}

TEST_CASE("calls with a small effort cut the same windows as one unlimited call") {
  const LoudIsSpeech model;
  std::mt19937 random(test::seed());
  std::vector<float> samples;
  for (int i = 0; i < 40; ++i) {
    const auto piece = turns({0.3 + random() % 40 / 10.0, 0.1 + random() % 30 / 10.0});
    samples.insert(samples.end(), piece.begin(), piece.end());
  }
  const auto silence = turns({0, 100});
  samples.insert(samples.end(), silence.begin(), silence.end());
  for (const WindowPolicy& policy : {WindowPolicy{}, by_pauses()}) {
    const auto whole = cut(samples, policy, model);
    int calls = 0;
    const auto pieces = cut(samples, policy, model, {.silence_seconds = 20, .read_seconds = 1}, &calls);
    CHECK(calls > 100);
    REQUIRE(pieces.size() == whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      CHECK(pieces[i].start_sample == whole[i].start_sample);
      CHECK(pieces[i].samples == whole[i].samples);
      REQUIRE(pieces[i].speech.size() == whole[i].speech.size());
    }
  }
}

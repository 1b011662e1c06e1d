#include <doctest/doctest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/cell.h"
#include "engine/report.h"
#include "error.h"
#include "measure.h"
#include "speech/model_file.h"
#include "speech/random_models/random_whisper_model.h"
#include "speech/support.h"
#include "speech/whisper_cpp/model.h"
#include "speech/whisper_cpp/slot.h"

namespace verbatim::bench {
namespace {

const std::filesystem::path kClips = std::filesystem::path(VERBATIM_SOURCE_DIR) / "test/fixtures/audio/clips";

Job short_job() {
  Job job;
  job.files = {kClips / "seen1-en-06.flac", kClips / "held1-fr-03.flac", kClips / "seen1-de-01.flac"};
  job.policy.max_seconds = 8.0;
  job.policy.search_seconds = 3.0;
  job.policy.cut = WindowPolicy::Cut::kPause;
  job.own_length = true;
  return job;
}

Cell bundled(int slots) {
  Cell cell;
  cell.model = test::bundled_model_path();
  cell.slots = slots;
  return cell;
}

}  // namespace

TEST_CASE("engine bench: a measurement counts every file once, whatever the slots") {
  const Measurement one = measure(bundled(1), short_job());
  const Measurement two = measure(bundled(2), short_job());
  CHECK(one.latencies_ms.size() == 3);
  CHECK(two.latencies_ms.size() == 3);
  CHECK(one.windows >= 3);
  CHECK(two.windows == one.windows);
  CHECK(two.timings.tokens == one.timings.tokens);
  CHECK(one.timings.tokens > 0);
  CHECK(one.audio_seconds == doctest::Approx(two.audio_seconds));
  CHECK(one.audio_seconds > 3.0);
  CHECK(one.timings.encode_ms > 0);
  CHECK(one.timings.decode_ms > 0);
  CHECK(one.timings.mel_ms > 0);
  CHECK(one.wall_seconds * 1000 >= (one.timings.mel_ms + one.timings.encode_ms + one.timings.decode_ms) * 0.9);
}

TEST_CASE("engine bench: a limit of tokens fixes the decoder's work") {
  Job job = short_job();
  job.language = "en";
  job.max_tokens = 4;
  const Measurement measurement = measure(bundled(1), job);
  CHECK(measurement.timings.tokens >= measurement.windows);
  CHECK(measurement.timings.tokens <= 6 * measurement.timings.encoder_passes);
}

TEST_CASE("engine bench: words are aligned on request, with either decoder") {
  for (const std::string decoder : {"whisper.cpp", "int8"}) {
    CAPTURE(decoder);
    Cell cell = bundled(1);
    cell.decoder = decoder;
    Job job = short_job();
    CHECK(measure(cell, job).words == 0);
    job.align = true;
    CHECK(measure(cell, job).words > 2);
  }
}

TEST_CASE("engine bench: a cell that cannot be measured reports why") {
  Cell cell = bundled(1);
  cell.model = kClips / "seen1-en-06.flac";
  CHECK_THROWS_AS(measure(cell, short_job()), EngineError);
  Job job = short_job();
  job.files.push_back(kClips / "no-such-file.flac");
  CHECK_THROWS_AS(measure(bundled(2), job), EngineError);
  CHECK_THROWS_AS(audio_files(kClips / "no-such-directory"), std::invalid_argument);
  CHECK(audio_files(kClips).size() > 3);
  CHECK(audio_files(kClips / "seen1-en-06.flac").size() == 1);
}

TEST_CASE("engine bench: the sweep has every combination") {
  Cell other;
  other.device = "cuda:0";
  const auto cells = sweep({Cell{}, other}, {1, 2, 4}, {1, 2}, {1, 5});
  CHECK(cells.size() == 24);
  CHECK(cells.front().slots == 1);
  CHECK(cells.back().slots == 4);
  CHECK(cells.back().threads == 2);
  CHECK(cells.back().beam == 5);
  CHECK(cells.back().device == "cuda:0");
}

TEST_CASE("engine bench: JSON and table show the measurement") {
  Measurement m;
  m.weight_type = "f16";
  m.accelerator = "onednn bfloat16";
  m.audio_seconds = 60;
  m.wall_seconds = 3;
  m.processor_seconds = 4.5;
  m.latencies_ms = {300, 100, 200, 400};
  m.timings.mel_ms = 10;
  m.timings.encode_ms = 60;
  m.timings.decode_ms = 30;
  m.timings.tokens = 90;
  m.timings.fallbacks = 2;
  m.peak_mib = 250;
  const nlohmann::json json = to_json(bundled(2), m);
  CHECK(json.at("rtfx") == 20.0);
  CHECK(json.at("busyCores") == 1.5);
  CHECK(json.at("tokensPerSecond") == 30.0);
  CHECK(json.at("latencyMs").at("p50") == 200.0);
  CHECK(json.at("latencyMs").at("p95") == 400.0);
  CHECK(json.at("slots") == 2);
  CHECK(pack(unpack(pack(m))) == pack(m));
  CHECK(unpack(pack(m)).timings.fallbacks == 2);
  const std::string text = table({{bundled(2), {m}}});
  CHECK(text.find("| 20.00 (20.00-20.00) | 200 | 400 | 400 | 10/60/30 | 30.0 | 250 | 1.50 |") != std::string::npos);
}

TEST_CASE("engine bench: statistics") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK(percentile({5, 1, 4, 2, 3}, 0.2) == 1);
  CHECK(percentile({5, 1, 4, 2, 3}, 0.21) == 2);
  CHECK(percentile({5, 1, 4, 2, 3}, 0.99) == 5);
}

TEST_CASE("random models: a shape with any type of weights loads, and its seed decides its bytes") {
  // A small shape of its own; the published ones differ only in numbers.
  ModelShape shape = random_models::published_shape("tiny");
  shape.audio_state = shape.text_state = 64;
  shape.audio_heads = shape.text_heads = 1;
  shape.audio_layers = shape.text_layers = 1;
  const test::TemporaryFile file("random.bin");
  std::vector<std::string> contents;
  for (const char* weights : {"f16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0"}) {
    CAPTURE(weights);
    shape.file_type = random_models::published_shape("tiny", weights).file_type;
    random_models::write_random_model(shape, 1, file.path());
    CHECK(SpeechModel::load(file.path(), "cpu")->info().weight_type == weights);
  }
  random_models::write_random_model(shape, 1, file.path());
  const std::string first = test::file_text(file.path());
  random_models::write_random_model(shape, 1, file.path());
  CHECK(test::file_text(file.path()) == first);
  random_models::write_random_model(shape, 2, file.path());
  CHECK(test::file_text(file.path()) != first);
  CHECK_THROWS_AS(random_models::published_shape("huge"), EngineError);
  CHECK_THROWS_AS(random_models::published_shape("tiny", "f8"), EngineError);
}

TEST_CASE("random models: a scripted one decodes its tokens from any window, in its language, in one pass" *
          doctest::test_suite("long")) {
  ModelShape shape = random_models::published_shape("tiny");
  shape.audio_layers = 1;
  // With two layers whisper.cpp takes it for a distilled model, which has no timestamps.
  shape.text_layers = 3;
  const test::TemporaryFile file("scripted.bin");
  for (const int tokens : {12, 60}) {
    for (const char* weights : {"f16", "q5_0"}) {
      CAPTURE(tokens);
      CAPTURE(weights);
      shape.file_type = random_models::published_shape("tiny", weights).file_type;
      random_models::write_random_model(shape, 1, file.path(), tokens);
      Slot slot(SpeechModel::load(file.path(), "cpu"), 1);
      std::mt19937 engine(1);
      for (const std::size_t seconds : {2, 28}) {
        Window window;
        window.samples.resize(seconds * kSampleRate);
        for (float& sample : window.samples) sample = static_cast<float>(engine() % 2001) / 10000.0f - 0.1f;
        const WindowResult result = slot.transcribe(window, {}, nullptr);
        CHECK(result.language == "en");
        REQUIRE(result.segments.size() == 1);
        CHECK(result.segments[0].tokens.size() == static_cast<std::size_t>(tokens));
        CHECK(result.timings.encoder_passes == 1);
        CHECK(result.timings.fallbacks == 0);
      }
    }
  }
  CHECK_THROWS_AS(random_models::write_random_model(shape, 1, file.path(), 401), EngineError);
}

}  // namespace verbatim::bench

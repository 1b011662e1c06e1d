#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "error.h"
#include "speech/random_models/noise.h"
#include "speech/silero/model.h"
#include "speech/silero/model_file.h"
#include "testing/silero_writer.h"
#include "testing/temporary_directory.h"

using namespace verbatim;
using namespace verbatim::test;

namespace {

constexpr std::size_t kFrame = VoiceActivityModel::kFrameSamples;

std::string bytes_of(const SileroFile& file) {
  std::ostringstream out;
  file.write(out);
  return out.str();
}

std::string refusal(const std::string& bytes) {
  std::istringstream stream(bytes);
  try {
    silero::check_model_file(stream);
  } catch (const EngineError& error) {
    CHECK(error.code() == ErrorCode::kInvalidModel);
    return error.what();
  }
  return "accepted";
}

std::string refusal(const std::function<void(SileroFile&)>& change) {
  SileroFile file;
  change(file);
  return refusal(bytes_of(file));
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::shared_ptr<const SileroModel> load(Detection detection) {
  const TemporaryDirectory directory;
  SileroFile file;
  file.detection = detection;
  file.write(directory / "vad.bin");
  return SileroModel::load(directory / "vad.bin");
}

std::vector<float> probabilities(const SileroModel& model, std::span<const float> samples, std::size_t block = 1000) {
  std::vector<float> out(samples.size() / kFrame);
  const auto stream = model.open();
  for (std::size_t at = 0; at < out.size(); at += block) {
    const std::size_t count = std::min(block, out.size() - at);
    stream->probabilities(samples.subspan(at * kFrame, count * kFrame), std::span(out).subspan(at, count));
  }
  return out;
}

std::vector<float> loud_in_the_middle(std::size_t frames) {
  auto samples = random_models::noise(frames * kFrame, 3);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t third = 3 * i / samples.size();
    samples[i] *= third == 1 ? 0.3f : 1e-4f;
  }
  return samples;
}

}  // namespace

TEST_CASE("a Silero file of the supported architecture is accepted") { CHECK(refusal(bytes_of({})) == "accepted"); }

TEST_CASE("a Silero file that is cut anywhere is refused") {
  const std::string whole = bytes_of({});
  for (const std::size_t length : {std::size_t{0}, std::size_t{3}, std::size_t{8}, std::size_t{17}, std::size_t{40},
                                   std::size_t{100}, std::size_t{200}, whole.size() / 2, whole.size() - 1}) {
    CAPTURE(length);
    CHECK(refusal(whole.substr(0, length)) != "accepted");
  }
  CHECK(contains(refusal(whole.substr(0, whole.size() - 1)), "truncated"));
  CHECK(contains(refusal(whole + "x"), "truncated"));
}

TEST_CASE("a Silero file with a wrong field is refused by that field's name") {
  CHECK(contains(refusal([](SileroFile& file) { file.type = "silero-8k"; }), "not a Silero model"));
  CHECK(contains(refusal([](SileroFile& file) { file.frame = 256; }), "frame is 256, allowed: 512"));
  CHECK(contains(refusal([](SileroFile& file) { file.frame = 2000000000; }), "allowed: 512"));
  CHECK(contains(refusal([](SileroFile& file) { file.context = -1; }), "context is -1"));
  for (std::size_t i = 0; i < SileroFile{}.encoder.size(); ++i) {
    for (const std::int32_t value : {-1, 0, 1 << 30}) {
      CHECK(contains(refusal([&](SileroFile& file) { file.encoder[i] = value; }), "the header's"));
    }
  }
  for (std::size_t i = 0; i < SileroFile{}.decoder.size(); ++i)
    CHECK(contains(refusal([&](SileroFile& file) { file.decoder[i] += 1; }), "the header's"));
}

TEST_CASE("a Silero file with other tensors is refused by their names") {
  const std::string bias = "_model.decoder.rnn.bias_hh";
  const auto edited = [&](const std::function<void(SileroTensor&)>& edit) {
    return refusal([&](SileroFile& file) {
      file.edit_tensor = [&](SileroTensor& tensor) {
        if (tensor.name == bias) edit(tensor);
      };
    });
  };
  CHECK(contains(edited([](SileroTensor& tensor) { tensor.name.clear(); }), bias + " is missing"));
  CHECK(contains(edited([](SileroTensor& tensor) { tensor.name = "extra"; }), "tensor extra"));
  CHECK(contains(edited([](SileroTensor& tensor) { tensor.name = "_model.decoder.rnn.bias_ih"; }), "twice"));
  CHECK(contains(edited([](SileroTensor& tensor) { tensor.dimensions[0] = 513; }), "expected [512]"));
  CHECK(contains(edited([](SileroTensor& tensor) { tensor.dimensions[0] = -512; }), "expected [512]"));
  CHECK(contains(edited([](SileroTensor& tensor) { tensor.type = GGML_TYPE_F16; }), "of type f32"));
  CHECK(contains(edited([](SileroTensor& tensor) { tensor.type = 999; }), "unknown type"));
}

TEST_CASE("loading reports the file's name, also of a missing file") {
  const TemporaryDirectory directory;
  const auto code_of = [](const std::filesystem::path& path, const std::string& part) {
    try {
      SileroModel::load(path);
    } catch (const EngineError& error) {
      CHECK(contains(error.what(), part));
      return error.code();
    }
    return ErrorCode::kInternalError;
  };
  CHECK(code_of(directory / "none.bin", "none.bin") == ErrorCode::kIoError);
  CHECK(code_of(directory / "", "not a regular file") == ErrorCode::kIoError);
  std::ofstream(directory / "text.bin") << "This is a text.";
  CHECK(code_of(directory / "text.bin", "text.bin: not a Silero model") == ErrorCode::kInvalidModel);
  std::ofstream(directory / "large.bin").put('x');
  std::filesystem::resize_file(directory / "large.bin", 1 << 30);
  CHECK(code_of(directory / "large.bin", "larger than 8 MiB") == ErrorCode::kInvalidModel);
}

TEST_CASE("made-up weights detect what they are made for") {
  const auto samples = loud_in_the_middle(30);
  const auto sound = probabilities(*load(Detection::kSound), samples);
  const auto everything = probabilities(*load(Detection::kEverything), samples);
  const auto nothing = probabilities(*load(Detection::kNothing), samples);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    CAPTURE(i);
    // The transform overlaps the edges of a frame.
    if (i % 10 != 0) CHECK((sound[i] > 0.9f) == (i / 10 == 1));
    if (i % 10 != 0) CHECK((sound[i] < 0.1f) == (i / 10 != 1));
    CHECK(everything[i] > 0.99f);
    CHECK(nothing[i] < 0.01f);
  }
}

TEST_CASE("a signal has the same probabilities in blocks of any size") {
  const auto model = load(Detection::kNoise);
  const auto samples = random_models::noise(100 * kFrame, 1);
  const auto whole = probabilities(*model, samples);
  for (const std::size_t block : {1, 7, 99}) CHECK(probabilities(*model, samples, block) == whole);
  // These weights have a memory of the past; without it the test would show nothing.
  const auto rest = probabilities(*model, std::span(samples).subspan(50 * kFrame));
  CHECK(rest != std::vector<float>(whole.begin() + 50, whole.end()));
}

TEST_CASE("signals do not affect each other, neither in turn nor at the same time") {
  const auto model = load(Detection::kNoise);
  const auto first = random_models::noise(40 * kFrame, 1);
  const auto second = random_models::noise(40 * kFrame, 2);
  const auto alone = probabilities(*model, first);
  CHECK(probabilities(*model, second) != alone);
  CHECK(probabilities(*model, first) == alone);
  const auto one = model->open();
  const auto other = model->open();
  for (std::size_t i = 0; i < 40; ++i) {
    float probability = 0;
    one->probabilities(std::span(first).subspan(i * kFrame, kFrame), std::span(&probability, 1));
    CHECK(probability == alone[i]);
    other->probabilities(std::span(second).subspan(i * kFrame, kFrame), std::span(&probability, 1));
  }
}

TEST_CASE("a stream keeps its model, whose weights all streams share") {
  auto model = load(Detection::kNoise);
  const std::weak_ptr<const SileroModel> watched = model;
  CHECK(model->memory_bytes() > 1'000'000);
  CHECK(model->memory_bytes() < 1'500'000);
  auto stream = model->open();
  model.reset();
  float probability = 0;
  stream->probabilities(random_models::noise(kFrame, 1), std::span(&probability, 1));
  CHECK(probability > 0);
  stream.reset();
  CHECK(watched.expired());
}

TEST_CASE("streams on different threads do not affect each other") {
  const auto model = load(Detection::kNoise);
  const auto samples = random_models::noise(60 * kFrame, 1);
  const auto alone = probabilities(*model, samples);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) count += probabilities(*model, samples) == alone ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("a partial frame is refused, and an empty call does nothing") {
  const auto model = load(Detection::kSound);
  const auto stream = model->open();
  std::vector<float> out(1);
  CHECK_THROWS_AS(stream->probabilities(random_models::noise(kFrame + 1, 1), out), EngineError);
  stream->probabilities({}, {});
  stream->probabilities(random_models::noise(kFrame, 1), out);
  CHECK(out[0] > 0.9f);
}

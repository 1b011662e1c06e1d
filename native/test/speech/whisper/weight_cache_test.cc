#include "transformer/cpu/weight_cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "checksum.h"
#include "speech/load_recogniser.h"
#include "speech/support.h"
#include "speech/whisper/model/model.h"
#include "testing/temporary_directory.h"
#include "testing/window_runner.h"
#include "transformer/cpu/weights.h"

namespace verbatim {
namespace {

using transformer::ComputeType;
using transformer::WeightCacheOptions;
using transformer::WeightCacheReport;
using transformer::WeightSharing;

constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 40;

std::vector<std::uint8_t> bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A copy of the bundled model with a directory for its weights.
struct Fixture {
  test::TemporaryDirectory directory;
  std::filesystem::path model = directory / "model.bin";
  std::filesystem::path weights = directory / "model.bin.packed";

  Fixture() { put_model(bytes_of(test::bundled_model_path())); }

  // The cache wants a file that is a few milliseconds old.
  void put_model(const std::vector<std::uint8_t>& bytes) const {
    directory.put("model.bin", bytes);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }

  std::shared_ptr<const Recogniser> load(std::string_view compute = "int8", std::uint64_t max_bytes = kNoLimit,
                                         WeightSharing sharing = WeightSharing::kAlways) const {
    return load_recogniser(model, "cpu", AcceleratorMode::kAuto, compute, {}, SpeechExecutor::kByDevice,
                           {weights, max_bytes, sharing});
  }
  WeightCacheReport report(std::string_view compute = "int8", std::uint64_t max_bytes = kNoLimit) const {
    return load(compute, max_bytes)->info().weight_cache.value();
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(weights)) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
  std::filesystem::path file(const std::string& name) const { return weights / (name + ".weights"); }
};

std::vector<std::pair<int, float>> tokens_with(const Recogniser& recogniser) {
  const auto window = std::make_shared<Window>(test::window_of(test::clips().front().file));
  DecodeOptions options;
  options.language = "auto";
  options.own_length = true;
  return test::tokens_of(test::WindowRunner(recogniser, {}).transcribe(window, options));
}

std::vector<std::pair<int, float>> tokens_without_cache() {
  return tokens_with(*load_recogniser(test::bundled_model_path(), "cpu", AcceleratorMode::kAuto, "int8"));
}

}  // namespace

TEST_CASE("the first load writes packed weights, later ones find them and give the same tokens") {
  const Fixture cached;
  const auto expected = tokens_without_cache();
  REQUIRE_FALSE(expected.empty());
  std::uint64_t bytes = 0;
  {
    const auto first = cached.load();
    const WeightCacheReport& report = first->info().weight_cache.value();
    bytes = report.written_bytes;
    CHECK(bytes == first->info().memory_bytes);
    CHECK(report.shared_bytes == bytes);
    CHECK(report.found_bytes == 0);
    CHECK(report.problem.empty());
    CHECK(tokens_with(*first) == expected);
  }
  CHECK(cached.files() == std::vector<std::string>{"decoder-int8.weights", "encoder-int8.weights"});
  for (const WeightSharing sharing : {WeightSharing::kAlways, WeightSharing::kInHugePages}) {
    const auto later = cached.load("int8", kNoLimit, sharing);
    const WeightCacheReport& report = later->info().weight_cache.value();
    CHECK(report.found_bytes == bytes);
    CHECK(report.written_bytes == 0);
    CHECK(report.problem.empty());
    CHECK(later->info().memory_bytes == bytes);
    CHECK(tokens_with(*later) == expected);
  }
}

TEST_CASE("without a directory nothing is kept") {
  const Fixture uncached;
  const auto recogniser = load_recogniser(uncached.model, "cpu", AcceleratorMode::kAuto, "int8");
  CHECK_FALSE(recogniser->info().weight_cache);
  CHECK_FALSE(std::filesystem::exists(uncached.weights));
}

TEST_CASE("a file has the bytes that packing gives") {
  const Fixture cached;
  cached.load();
  const auto model = whisper::Model::load_kernels(cached.model, ComputeType::kInt8);
  const transformer::CpuWeights decoder(model->decoder(), ComputeType::kInt8);
  const auto is_in = [&](const std::string& name, std::span<const std::byte> packed) {
    const std::vector<std::uint8_t> bytes = bytes_of(cached.file(name));
    const auto kept = std::as_bytes(std::span(bytes));
    return kept.size() > packed.size() && std::ranges::equal(kept.last(packed.size()), packed);
  };
  CHECK(is_in("encoder-int8", model->cpu_encoder_weights()->memory().bytes()));
  CHECK(is_in("decoder-int8", decoder.memory().bytes()));
}

// Weights that are packed in another way must get another format (weight_file.cc). Then these values change too.
TEST_CASE("the bundled model's packed weights are those of the format") {
  const auto model = whisper::Model::load_kernels(test::bundled_model_path(), ComputeType::kInt8);
  const transformer::CpuWeights decoder(model->decoder(), ComputeType::kInt8);
// ARM fuses the multiplications and additions of biases.
#if defined(__x86_64__)
  CHECK(checksum(model->cpu_encoder_weights()->memory().bytes()) == 0x57713b34a66a13d9);
#endif
  CHECK(checksum(decoder.memory().bytes()) == 0x8108eefbb5bfb6c3);
}

TEST_CASE("a damaged or truncated file is packed again") {
  const Fixture cached;
  const auto expected = tokens_without_cache();
  const std::uint64_t all = cached.report().written_bytes;
  const std::vector<std::uint8_t> right = bytes_of(cached.file("encoder-int8"));
  std::vector<std::uint8_t> changed = right;
  changed[changed.size() / 2] ^= 4;
  const std::vector<std::uint8_t> truncated(right.begin(), right.end() - 1);
  for (const auto& [bytes, problem] : {std::pair(changed, "checksum"), std::pair(truncated, "bytes instead of")}) {
    std::ofstream(cached.file("encoder-int8"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const auto recogniser = cached.load();
    const WeightCacheReport& report = recogniser->info().weight_cache.value();
    CHECK(report.written_bytes == right.size() - 4096);
    CHECK(report.found_bytes == all - report.written_bytes);
    CHECK(report.problem.starts_with("encoder-int8: "));
    CHECK(report.problem.find(problem) != std::string::npos);
    CHECK(tokens_with(*recogniser) == expected);
    CHECK(bytes_of(cached.file("encoder-int8")) == right);
    CHECK(cached.report().found_bytes == all);
  }
}

TEST_CASE("weights of a model that is replaced are packed again, those of an unchanged copy are found") {
  const Fixture cached;
  const std::uint64_t all = cached.report().written_bytes;
  std::vector<std::uint8_t> bytes = bytes_of(cached.model);
  cached.put_model(bytes);
  CHECK(cached.report().found_bytes == all);
  // Of the same size, with another last weight.
  bytes.back() ^= 1;
  cached.put_model(bytes);
  const WeightCacheReport report = cached.report();
  CHECK(report.found_bytes == 0);
  CHECK(report.written_bytes == all);
  CHECK(report.problem.empty());
  CHECK(cached.report().found_bytes == all);
}

TEST_CASE("weights of a model that changed just before are not kept") {
  const Fixture cached;
  const std::vector<std::uint8_t> bytes = bytes_of(cached.model);
  WeightCacheReport report;
  // On a busy machine some time may pass before the load begins.
  for (int i = 0; i < 100 && report.problem.empty(); ++i) {
    std::filesystem::remove_all(cached.weights);
    cached.directory.put("model.bin", bytes);
    report = cached.report();
  }
  CHECK(report.written_bytes == 0);
  CHECK(report.problem.find("the model's file has only just been written") != std::string::npos);
}

TEST_CASE("each type has files of its own") {
  const Fixture cached;
  CHECK(cached.report("int8").problem.empty());
  CHECK(cached.report("float32").problem.empty());
  const std::vector<std::string> files = cached.files();
  CHECK(std::ranges::count(files, "decoder-float32.weights") == 1);
  CHECK(std::ranges::count(files, "decoder-int8.weights") == 1);
  CHECK(cached.report("int8").written_bytes == 0);
  CHECK(cached.report("float32").written_bytes == 0);
}

TEST_CASE("weights over the limit, or without a place, are packed at every start") {
  const Fixture cached;
  const auto expected = tokens_without_cache();
  const auto limited = cached.load("int8", 1000);
  CHECK(limited->info().weight_cache->written_bytes == 0);
  CHECK(limited->info().weight_cache->problem.find("the limit is 1 MiB") != std::string::npos);
  CHECK(tokens_with(*limited) == expected);
  std::filesystem::remove_all(cached.weights);
  // No directory can be made where a file is.
  cached.directory.put("model.bin.packed", {1});
  const auto nowhere = cached.load();
  CHECK(nowhere->info().weight_cache->written_bytes == 0);
  CHECK(nowhere->info().weight_cache->problem.find("Not a directory") != std::string::npos);
  CHECK(tokens_with(*nowhere) == expected);
}

}  // namespace verbatim

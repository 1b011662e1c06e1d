#include "model_maker.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "speech/load_slot_model.h"
#include "speech/support.h"
#include "testing/random_parakeet_model.h"
#include "testing/temporary_directory.h"

namespace verbatim::bench {
namespace {

std::string refusal(const std::vector<std::string>& words) {
  try {
    make_model(words);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "made";
}

}  // namespace

TEST_CASE("make_model writes a Parakeet model of the given shape, weights and seed") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() / "made.bin";
  const auto made = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"parakeet-small", path};
    words.insert(words.end(), more.begin(), more.end());
    make_model(words);
    return test::file_text(path);
  };
  const auto written = [&](const std::string& weights, std::uint32_t seed) {
    test::write_random_parakeet_model(test::small_parakeet_shape(weights), seed, path);
    return test::file_text(path);
  };
  CHECK(made({}) == written("f16", 1));
  CHECK(made({"q8_0"}) == written("q8_0", 1));
  CHECK(made({"q8_0", "7"}) == written("q8_0", 7));
  CHECK(made({"q8_0", "8"}) != written("q8_0", 7));
  const auto model = load_slot_model(path, "cpu");
  CHECK(model->info().family == "parakeet");
  CHECK(model->info().weight_type == "q8_0");
}

TEST_CASE("make_model: each of Parakeet's small shapes loads") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() / "made.bin";
  for (const char* shape : {"parakeet-small", "parakeet-narrow", "parakeet-wide"}) {
    CAPTURE(shape);
    make_model({shape, path, "f32"});
    CHECK(load_slot_model(path, "cpu")->info().weight_type == "f32");
  }
}

TEST_CASE("make_model refuses what it cannot make, and lists what it can") {
  CHECK(refusal({"base"}) == "usage: make_model SHAPE FILE [WEIGHTS] [SEED] [TOKENS] [--outliers] [--sharp-heads]");
  CHECK(refusal({"parakeet-1b", "file"}) ==
        "\"parakeet-1b\" is no shape; allowed: base, large-v3-turbo, small, tiny, parakeet-0.6b, "
        "parakeet-0.6b-v2, parakeet-narrow, parakeet-small, parakeet-wide");
  CHECK(refusal({"parakeet-small", "file", "f8"}).starts_with("\"f8\" is no type of weights"));
  CHECK(refusal({"parakeet-small", "file", "f16", "-1"}) != "made");
  CHECK(refusal({"parakeet-small", "file", "f16", "1", "48"}) ==
        "TOKENS is 48; it is for Whisper's shapes: a Parakeet model writes by what it recognises");
  for (const char* trait : {"--outliers", "--sharp-heads"}) {
    CHECK(refusal({"parakeet-small", "file", trait}) == "--outliers and --sharp-heads are for Whisper's shapes");
  }
}

TEST_CASE("make_model reports a file that cannot be written") {
  CHECK_THROWS_AS(make_model({"parakeet-small", "/dev/full"}), std::ios_base::failure);
  CHECK_THROWS_AS(make_model({"parakeet-small", "/nowhere/made.bin"}), std::ios_base::failure);
}

}  // namespace verbatim::bench

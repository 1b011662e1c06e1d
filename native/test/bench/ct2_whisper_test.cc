#include "ct2_whisper.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "speech/random_models/random_whisper_model.h"
#include "speech/random_models/scripted_decoder.h"
#include "speech/whisper/model/special_tokens.h"
#include "testing/temporary_directory.h"
#include "translation/ct2/file.h"

namespace verbatim::bench {
namespace {

using translation::Ct2File;
using translation::Ct2Variable;

ModelShape small_shape() {
  ModelShape shape = random_models::published_shape("tiny");
  shape.audio_state = shape.text_state = 32;
  shape.audio_heads = shape.text_heads = 2;
  shape.audio_layers = 1;
  shape.text_layers = 2;
  return shape;
}

float product(const Ct2Variable& a, std::size_t row_of_a, const Ct2Variable& b, std::size_t row_of_b) {
  const std::size_t width = a.shape.at(1);
  float sum = 0;
  for (std::size_t i = 0; i < width; ++i) sum += a.at(row_of_a * width + i) * b.at(row_of_b * width + i);
  return sum;
}

}  // namespace

TEST_CASE("CTranslate2's copy of a random Whisper model: every layer, the script and the names of special tokens") {
  constexpr std::uint32_t kSeed = 5;
  constexpr int kTokens = 7;
  const ModelShape shape = small_shape();
  const test::TemporaryDirectory directory;
  write_ct2_whisper(shape, kSeed, directory.path(), kTokens);

  const Ct2File file = Ct2File::open(directory / "model.bin");
  CHECK(file.spec_name() == "WhisperSpec");
  CHECK(file.find("encoder/layer_0/ffn/linear_1/weight") != nullptr);
  CHECK(file.find("encoder/layer_1/ffn/linear_1/weight") == nullptr);
  CHECK(file.find("decoder/layer_1/attention/linear_2/bias") != nullptr);
  CHECK(file.find("decoder/layer_2/attention/linear_2/bias") == nullptr);
  const Ct2Variable* const projection = file.find("decoder/projection/weight");
  REQUIRE(projection != nullptr);
  CHECK(projection->shape == std::vector<std::uint32_t>{51865, 32});

  const auto tensors = expected_tensors(shape);
  const auto expected = random_models::random_tensor("decoder.blocks.1.cross_attn.query.bias",
                                                     tensors.at("decoder.blocks.1.cross_attn.query.bias"), kSeed);
  CHECK(file.find("decoder/layer_1/attention/linear_0/bias")->at(3) == expected.at(3));

  // A position's row points to its scripted token, so that the product with that token's embedding is the largest.
  const Ct2Variable* const positions = file.find("decoder/position_encodings/encodings");
  REQUIRE(positions != nullptr);
  const auto script = random_models::scripted_tokens(shape, kTokens);
  for (const std::size_t place : {std::size_t{3}, std::size_t{9}, std::size_t{12}}) {
    const auto token = static_cast<std::size_t>(script.at(place));
    const float own = product(*positions, place, *projection, token);
    CHECK(own > 2 * product(*positions, place, *projection, token + 1));
    CHECK(own > 2 * product(*positions, place, *projection, token - 1));
    CHECK(own > 100);
  }

  const auto names =
      nlohmann::json::parse(std::ifstream(directory / "vocabulary.json")).get<std::vector<std::string>>();
  const whisper::SpecialTokens special = whisper::special_tokens(shape.vocabulary);
  REQUIRE(names.size() == 51865);
  CHECK(names.at(static_cast<std::size_t>(special.start_of_transcript)) == "<|startoftranscript|>");
  CHECK(names.at(static_cast<std::size_t>(special.no_time_stamps)) == "<|notimestamps|>");
  CHECK(names.at(static_cast<std::size_t>(special.end_of_text)) == "<|endoftext|>");
}

}  // namespace verbatim::bench

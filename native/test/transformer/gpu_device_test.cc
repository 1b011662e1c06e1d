#include "transformer/gpu/device.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "error.h"
#include "support/limited_device.h"
#include "support/message_of_error.h"
#include "transformer/decoder_pair.h"
#include "transformer/sample_text.h"

// What a device refuses, how it fails, and what it is made to do.
namespace {

using namespace verbatim;
using namespace verbatim::transformer;
using test::LimitsScope;
using test::message_of_error;

constexpr int kOutOfDeviceMemory = -2;
constexpr int kDeviceLost = -4;

}  // namespace

TEST_CASE("an operation that a device does not compute is refused by its name, never computed elsewhere") {
  DecoderPair pair({}, {}, test::limited_device());
  const auto text = pair.text();
  const auto source = pair.source(9);
  const LimitsScope scope({.refused = GGML_OP_SOFT_MAX});
  CHECK(message_of_error(ErrorCode::kDeviceUnavailable, [&] {
          pair.gpu_step({{1, text, source}});
        }) == "limited cannot compute SOFT_MAX of f32 [32, 1, 4] and f32 [32] to f32 [32, 1, 4]");
  CHECK(text.gpu->length() == 0);
}

TEST_CASE("a type of weights that a device does not multiply is refused when they are loaded") {
  const LimitsScope scope({.refused = GGML_OP_MUL_MAT});
  CHECK(message_of_error(ErrorCode::kDeviceUnavailable, [&] {
          DecoderPair({}, {}, test::limited_device());
        }).starts_with("limited cannot compute MUL_MAT of f32 ["));
}

TEST_CASE("matrices beyond what a device reads at once are multiplied in parts, with the same results") {
  for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kInt8}) {
    // In both types the vocabulary is larger; its parts are of unequal size.
    const LimitsScope scope({.largest_matrix = 4200});
    DecoderPair pair({.vocabulary = 301}, {type, {}}, test::limited_device());
    const auto text = pair.text();
    const auto source = pair.source(20);
    for (const TokenId token : sample_text(8, 1))
      pair.step({{token, text, source}}, type == ComputeType::kInt8 ? 0.3 : 1e-4);
  }
}

TEST_CASE("without memory on a device a step fails, and the texts go on when there is some") {
  DecoderPair pair({}, {}, test::limited_device());
  const auto text = pair.text();
  const auto source = pair.source(9);
  pair.step(rows_of({1, 2}, text, source));
  {
    const LimitsScope scope({.failure = kOutOfDeviceMemory});
    CHECK(message_of_error(ErrorCode::kOutOfMemory, [&] {
            pair.gpu_step({{3, text, source}});
          }) == "no memory on the device for what is decoded");
  }
  CHECK(text.gpu->length() == 2);
  pair.step({{3, text, source}});
}

TEST_CASE("a lost device is an error of its own") {
  DecoderPair pair({}, {}, test::limited_device());
  const auto text = pair.text();
  const auto source = pair.source(9);
  const LimitsScope scope({.failure = kDeviceLost});
  CHECK(message_of_error(ErrorCode::kDeviceLost, [&] {
          pair.gpu_step({{3, text, source}});
        }) == "the device was lost: compute: result -4");
  CHECK(error_code_name(ErrorCode::kDeviceLost) == "device_lost");
}

TEST_CASE("a step is one upload, one computation and one download, and allocates nothing once its graph is there") {
  DecoderPair pair;
  std::vector<DecoderPair::Text> texts;
  const auto source = pair.source(40);
  for (int i = 0; i < 5; ++i) texts.push_back(pair.text());
  const auto step = [&](TokenId token) {
    PairRows rows;
    for (const auto& text : texts) rows.push_back({token, text, source});
    pair.gpu_step(rows);
  };
  step(1);
  const GpuTraffic before = pair.gpu().device().traffic();
  constexpr std::uint64_t kSteps = 20;
  for (std::uint64_t i = 0; i < kSteps; ++i) step(static_cast<TokenId>(i));
  const GpuTraffic after = pair.gpu().device().traffic();
  CHECK(after.computations - before.computations == kSteps);
  CHECK(after.uploads - before.uploads == kSteps);
  CHECK(after.downloads - before.downloads == kSteps);
  // Logits of five rows.
  CHECK(after.downloaded_bytes - before.downloaded_bytes == kSteps * 5 * 70 * sizeof(float));
  // Embeddings of eight rows, with their masks and slots.
  CHECK(after.uploaded_bytes - before.uploaded_bytes < kSteps * 10'000);
  CHECK(after.allocations == before.allocations);
  CHECK(after.nodes > before.nodes);
}

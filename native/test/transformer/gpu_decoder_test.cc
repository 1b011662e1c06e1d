#include "transformer/gpu/decoder.h"

#include <doctest/doctest.h>

#include <vector>

#include "error.h"
#include "support/message_of_error.h"
#include "transformer/decoder_pair.h"
#include "transformer/sample_text.h"

namespace {

using namespace verbatim;
using namespace verbatim::transformer;
using test::message_of_error;

}  // namespace

TEST_CASE("the graphs for GPUs equal the processor's kernels, one token per step") {
  DecoderPair pair;
  const auto text = pair.text();
  const auto source = pair.source(40);
  for (const TokenId token : sample_text(50, 1)) pair.step({{token, text, source}});
  CHECK(text.gpu->length() == 50);
}

TEST_CASE("rows at other positions and with other sources share a graph and change between steps") {
  DecoderPair pair({.heads = 2});
  constexpr std::size_t kTexts = 21;
  std::vector<DecoderPair::Text> texts;
  std::vector<DecoderPair::Source> sources;
  for (std::size_t i = 0; i < kTexts; ++i) {
    texts.push_back(pair.text());
    sources.push_back(pair.source(3 + 7 * i));
  }
  for (std::size_t t = 0; t < 40; ++t) {
    PairRows rows;
    // Each begins and ends at its own time; the last ones have slots far from the first.
    for (std::size_t i = 0; i < kTexts; ++i) {
      if (t >= i && t < 10 + 2 * i) rows.push_back({static_cast<TokenId>((i + t) % 70), texts[i], sources[i]});
    }
    std::ranges::rotate(rows, rows.begin() + static_cast<std::ptrdiff_t>(t % rows.size()));
    pair.step(rows);
  }
}

TEST_CASE("known texts may be given at once, whole or in part, beside others") {
  DecoderPair pair({.positions = 200});
  const auto first = pair.text(), second = pair.text(), third = pair.text();
  const auto source = pair.source(9), other = pair.source(70);
  // More tokens than one run takes, between the rows of two others.
  const auto tokens = sample_text(150, 1);
  PairRows rows;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    rows.push_back({tokens[i], first, source, i % 3 == 0});
    if (i < 5) rows.push_back({tokens[i + 9], second, other});
    if (i == 3) rows.push_back({7, third, source});
  }
  pair.step(rows);
  CHECK(first.gpu->length() == 150);
  CHECK(second.gpu->length() == 5);
  pair.step({{1, third, source}, {2, first, source}, {3, second, other}});
  pair.step(rows_of({4, 5, 6}, second, other, false));
  pair.step({{1, second, other}});
}

TEST_CASE("many texts of many tokens take many runs") {
  DecoderPair pair;
  std::vector<DecoderPair::Text> texts;
  const auto source = pair.source(12), other = pair.source(5);
  PairRows rows;
  for (std::size_t i = 0; i < 70; ++i) texts.push_back(pair.text());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (const TokenId token : sample_text(1 + i % 9, i)) rows.push_back({token, texts[i], i % 4 ? source : other});
  }
  pair.step(rows);
  rows.clear();
  for (int copy = 0; copy < 4; ++copy) {
    for (std::size_t i = 0; i < 70; ++i) texts.push_back(DecoderPair::fork(texts[i]));
  }
  for (std::size_t i = 0; i < texts.size(); ++i)
    rows.push_back({static_cast<TokenId>(i % 70), texts[i], (i % 70) % 4 ? source : other});
  CHECK(rows.size() == 350);
  pair.step(rows);
}

TEST_CASE("invalid input is refused by name on a device and changes nothing") {
  DecoderPair pair({.positions = 3});
  const auto source = pair.source(4);
  const auto text = pair.text();
  const auto refusal = [&](const std::vector<TokenId>& tokens) {
    return message_of_error(ErrorCode::kInvalidArgument, [&] { pair.gpu_step(rows_of(tokens, text, source)); });
  };
  CHECK(refusal({1, 70}) == "token 70 is not one of the 70 of the vocabulary");
  CHECK(refusal({-1}) == "token -1 is not one of the 70 of the vocabulary");
  CHECK(refusal({1, 2, 3, 4}) == "the text is longer than the decoder's 3 positions");
  const std::vector<AttentionHead> heads{{0, 4}};
  const AttentionRecord record{heads, [](std::size_t, std::size_t, std::span<const float>) {}};
  CHECK(message_of_error(ErrorCode::kInvalidArgument, [&] {
          pair.gpu_step({{1, text, source}}, nullptr, &record);
        }) == "no head 4 in layer 0; there are 4 in each of 2");
  CHECK(text.gpu->length() == 0);
  CHECK(text.gpu->memory_bytes() == 0);
  pair.step(rows_of({1, 2, 3}, text, source));
  const auto made = [](CacheTypes types) {
    return message_of_error(ErrorCode::kInvalidArgument, [&] { DecoderPair({}, {ComputeType::kFloat32, types}); });
  };
  CHECK(made({ComputeType::kInt8, ComputeType::kFloat32}) ==
        "no cross-attention in int8; float32 and float16 are allowed");
  CHECK(made({ComputeType::kFloat32, ComputeType::kBfloat16}) ==
        "no self-attention in bfloat16; float32 and float16 are allowed");
}

TEST_CASE("a device shows the weights of chosen heads as the processor does") {
  DecoderPair pair({.positions = 200});
  const auto source = pair.source(9), other = pair.source(50);
  const std::vector<AttentionHead> heads{{1, 3}, {0, 0}, {1, 1}};
  using Seen = std::vector<std::vector<std::vector<float>>>;
  const auto seen_by = [&](const auto& step, const PairRows& rows) {
    Seen seen(rows.size(), std::vector<std::vector<float>>(heads.size()));
    const AttentionRecord record{heads, [&](std::size_t row, std::size_t head, std::span<const float> weights) {
                                   CHECK(seen[row][head].empty());
                                   seen[row][head].assign(weights.begin(), weights.end());
                                 }};
    step(rows, record);
    return seen;
  };
  const auto first = pair.text(), second = pair.text();
  PairRows rows = rows_of(sample_text(70, 2), first, source, false);
  for (const auto& row : rows_of({4, 5}, second, other)) rows.insert(rows.begin() + 3, row);
  const Seen found =
      seen_by([&](const PairRows& of, const AttentionRecord& record) { pair.gpu_step(of, nullptr, &record); }, rows);
  const Seen expected =
      seen_by([&](const PairRows& of, const AttentionRecord& record) { pair.cpu_step(of, &record); }, rows);
  // Vulkan allows its exponential function a larger error than a processor's has.
  const double tolerance = test::device_under_test() == "cpu" ? 1e-5 : 1e-4;
  for (std::size_t row = 0; row < rows.size(); ++row)
    CHECK(DecoderPair::furthest(found[row], expected[row]) < tolerance);
}

TEST_CASE("a device shows the attention of the rows that want it only") {
  DecoderPair pair;
  const auto source = pair.source(9);
  const auto text = pair.text();
  std::vector<DecoderInput> rows;
  for (const TokenId token : {1, 2, 3}) rows.push_back({token, text.gpu.get(), source.gpu.get(), false});
  rows[1].wants_attention = false;
  const std::vector<AttentionHead> heads{{0, 1}};
  std::vector<int> seen(rows.size());
  const AttentionRecord record{heads, [&](std::size_t row, std::size_t, std::span<const float>) { ++seen[row]; }};
  pair.gpu().step(
      rows, [](std::size_t, std::span<float>) {}, 1, &record, nullptr);
  CHECK(seen == std::vector<int>{1, 0, 1});
}

TEST_CASE("16-bit and 8-bit weights and caches on a device give nearly the same results") {
  const auto tokens = sample_text(40, 3);
  const auto check = [&](DecoderTypes types, double tolerance) {
    DecoderPair pair({}, types);
    const auto text = pair.text(), second = pair.text();
    const auto source = pair.source(40), other = pair.source(33);
    pair.step(rows_of(tokens, text, source), tolerance);
    pair.step({{1, second, other}, {2, text, source}}, tolerance);
  };
  constexpr CacheTypes kHalves{ComputeType::kFloat16, ComputeType::kFloat16};
  check({ComputeType::kFloat32, kHalves}, 0.02);
  check({ComputeType::kFloat16, {}}, 0.02);
  check({ComputeType::kBfloat16, kHalves}, 0.15);
  check({ComputeType::kInt8, kHalves}, 0.3);
  DecoderPair pair({}, {ComputeType::kFloat32, kHalves});
  const auto text = pair.text();
  const auto source = pair.source(40);
  pair.step(rows_of(tokens, text, source), 0.02);
  CHECK(text.gpu->memory_bytes() == 40 * 2 * 2 * 32 * 2);
  CHECK(source.gpu->memory_bytes() == 64 * 2 * 2 * 32 * 2);
}

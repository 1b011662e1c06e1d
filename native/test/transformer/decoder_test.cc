#include "transformer/cpu/decoder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "error.h"
#include "support/counting_abort.h"
#include "support/message_of_error.h"
#include "transformer/decoder_fixture.h"

namespace {

using namespace verbatim;
using namespace verbatim::transformer;
using test::message_of_error;

// Every kernel variant, and every type of weights and caches.
template <typename Check>
void for_every_kind(const Check& check) {
  for (const Kernels* variant : available_kernels()) {
    CAPTURE(variant->name);
    for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kBfloat16, ComputeType::kInt8}) {
      CAPTURE(compute_type_name(type));
      for (const ComputeType cross : {ComputeType::kFloat32, ComputeType::kBfloat16, ComputeType::kInt8}) {
        CAPTURE(compute_type_name(cross));
        const bool is_float = cross == ComputeType::kFloat32;
        check(type, CacheTypes{cross, is_float ? ComputeType::kFloat32 : ComputeType::kBfloat16}, *variant);
      }
    }
  }
}

}  // namespace

TEST_CASE("a row's result is bit-identical alone and among 32 others at other positions") {
  for_every_kind([](ComputeType type, CacheTypes caches, const Kernels& variant) {
    DecoderFixture bench({}, type, caches, variant);
    constexpr std::size_t kOthers = 32, kLength = 12;
    std::vector<std::unique_ptr<CrossCache>> sources;
    std::vector<std::unique_ptr<History>> histories;
    for (std::size_t i = 0; i <= kOthers; ++i) {
      sources.push_back(bench.source(3 + i));
      histories.push_back(bench.decoder->make_history());
    }
    const auto text = sample_text(kLength, 5);
    const Logits alone = bench.one_by_one(text, *sources[7]);
    for (std::size_t t = 0; t < kLength; ++t) {
      // The others arrive one after the other, and every fifth leaves after three steps.
      std::vector<DecoderInput> rows;
      std::size_t mine = 0;
      for (std::size_t i = 0; i <= kOthers; ++i) {
        if (i == 7) mine = rows.size();
        if (i != 7 && (i / 4 > t || (i % 5 == 0 && t > i / 4 + 3))) continue;
        const TokenId token = i == 7 ? text[t] : static_cast<TokenId>((i + t) % 70);
        rows.push_back({token, histories[i].get(), sources[i].get()});
      }
      CHECK(bench.step(rows, t % 2 == 0 ? 1 : 3)[mine] == alone[t]);
    }
  });
}

TEST_CASE("a text in one step has bit-identical results to one token per step") {
  for_every_kind([](ComputeType type, CacheTypes caches, const Kernels& variant) {
    DecoderFixture bench({}, type, caches, variant);
    const auto source = bench.source(9), other = bench.source(20);
    const auto text = sample_text(20, 1), neighbour = sample_text(11, 2);
    const Logits expected = bench.one_by_one(text, *source);
    const auto history = bench.decoder->make_history(), second = bench.decoder->make_history();
    // Rows of other texts may be between the rows of a text.
    std::vector<DecoderInput> rows;
    for (std::size_t i = 0; i < text.size(); ++i) {
      rows.push_back({text[i], history.get(), source.get()});
      if (i < neighbour.size()) rows.push_back({neighbour[i], second.get(), other.get(), false});
    }
    const Logits logits = bench.step(rows, 2);
    for (std::size_t i = 0; i < text.size(); ++i) CHECK(logits[i < 11 ? 2 * i : 11 + i] == expected[i]);
    CHECK(history->length() == 20);
    CHECK(second->length() == 11);
  });
}

TEST_CASE("a text longer than one run has the results of one token per step") {
  DecoderFixture bench({.positions = 700});
  const auto source = bench.source(9);
  const auto text = sample_text(600, 1);
  const auto history = bench.decoder->make_history();
  const Logits logits = bench.step(rows_of(text, *history, *source));
  const Logits expected = bench.one_by_one(text, *source);
  CHECK(logits.back() == expected.back());
  CHECK(logits[256] == expected[256]);
}

TEST_CASE("logits are reported for the rows that want them, by row number") {
  DecoderFixture bench;
  const auto source = bench.source(9);
  const auto text = sample_text(6, 1);
  const Logits expected = bench.one_by_one(text, *source);
  const auto history = bench.decoder->make_history();
  auto rows = rows_of(text, *history, *source);
  for (const std::size_t i : {0u, 1u, 2u, 4u}) rows[i].wants_logits = false;
  const Logits logits = bench.step(rows);
  for (const std::size_t i : {0u, 1u, 2u, 4u}) CHECK(logits[i].empty());
  CHECK(logits[3] == expected[3]);
  CHECK(logits[5] == expected[5]);
  // There may be no row with logits at all.
  const auto silent = bench.decoder->make_history();
  for (DecoderInput& row : rows) row.history = silent.get(), row.wants_logits = false;
  CHECK(std::ranges::all_of(bench.step(rows), [](const auto& row) { return row.empty(); }));
  CHECK(bench.step({{text[0], silent.get(), source.get()}}).front() ==
        bench.one_by_one({text[0], text[1], text[2], text[3], text[4], text[5], text[0]}, *source).back());
}

TEST_CASE("forked texts continue independently and share their beginning") {
  DecoderFixture bench;
  const auto source = bench.source(9);
  const auto history = bench.decoder->make_history();
  bench.step(rows_of({1, 2, 3, 4}, *history, *source));
  const std::size_t own = history->memory_bytes();
  CHECK(own > 0);
  auto fork = history->fork();
  CHECK(fork->length() == 4);
  CHECK(history->memory_bytes() == 0);
  CHECK(fork->memory_bytes() == 0);
  const Logits both = bench.step({{5, history.get(), source.get()}, {6, fork.get(), source.get()}});
  CHECK(both[0] == bench.one_by_one({1, 2, 3, 4, 5}, *source).back());
  CHECK(both[1] == bench.one_by_one({1, 2, 3, 4, 6}, *source).back());
  CHECK(fork->memory_bytes() == own / 4);
  // The end of one text does not affect the other.
  fork.reset();
  CHECK(history->memory_bytes() == own / 4 * 5);
  fork = history->fork();
  const auto again = fork->fork();
  CHECK(bench.step({{7, again.get(), source.get()}}).front() == bench.one_by_one({1, 2, 3, 4, 5, 7}, *source).back());
  CHECK(bench.step({{8, history.get(), source.get()}}).front() == bench.one_by_one({1, 2, 3, 4, 5, 8}, *source).back());
}

TEST_CASE("an aborted step leaves every text as it was") {
  DecoderFixture bench;
  const auto source = bench.source(9);
  const test::CountingAbort never;
  {
    const auto history = bench.decoder->make_history();
    bench.step({{1, history.get(), source.get()}}, kThreads, &never);
  }
  CHECK(never.looks() > 20);
  for (const int at : {1, 2, never.looks() / 2, never.looks()}) {
    CAPTURE(at);
    const auto history = bench.decoder->make_history();
    bench.step(rows_of({1, 2}, *history, *source));
    const auto fork = history->fork();
    const test::CountingAbort abort(at);
    auto rows = rows_of({3, 4, 5}, *history, *source);
    rows.push_back({9, fork.get(), source.get()});
    CHECK(message_of_error(ErrorCode::kAborted, [&] { bench.step(rows, kThreads, &abort); }) ==
          "the computation was aborted");
    CHECK(history->length() == 2);
    CHECK(fork->length() == 2);
    CHECK(bench.step({{6, history.get(), source.get()}}).front() == bench.one_by_one({1, 2, 6}, *source).back());
  }
}

TEST_CASE("an invalid token or position is refused by name and changes nothing") {
  DecoderFixture bench({.positions = 3});
  const auto source = bench.source(4);
  const auto history = bench.decoder->make_history();
  const auto refusal = [&](const std::vector<TokenId>& text) {
    return message_of_error(ErrorCode::kInvalidArgument, [&] { bench.step(rows_of(text, *history, *source)); });
  };
  CHECK(refusal({1, 70}) == "token 70 is not one of the 70 of the vocabulary");
  CHECK(refusal({-1}) == "token -1 is not one of the 70 of the vocabulary");
  CHECK(refusal({1, 2, 3, 4}) == "the text is longer than the decoder's 3 positions");
  CHECK(history->length() == 0);
  CHECK(bench.step(rows_of({1, 2, 3}, *history, *source)) == bench.one_by_one({1, 2, 3}, *source));
}

TEST_CASE("unsupported cache types are refused by name") {
  const auto refusal = [](CacheTypes types) {
    return message_of_error(ErrorCode::kInvalidArgument,
                            [&] { DecoderFixture bench({}, ComputeType::kFloat32, types); });
  };
  CHECK(refusal({ComputeType::kFloat16, ComputeType::kFloat32}) ==
        "no cross-attention in float16; float32, bfloat16 and int8 are allowed");
  CHECK(refusal({ComputeType::kFloat32, ComputeType::kInt8}) ==
        "no self-attention in int8; float32 and bfloat16 are allowed");
}

TEST_CASE("the weights of chosen heads of cross-attention are reported") {
  DecoderFixture bench;
  const auto source = bench.source(9), other = bench.source(5);
  const auto history = bench.decoder->make_history(), second = bench.decoder->make_history();
  auto rows = rows_of({1, 2, 3}, *history, *source);
  rows.push_back({4, second.get(), other.get(), false});
  const std::vector<AttentionHead> heads{{1, 3}, {0, 0}};
  std::vector<std::vector<std::vector<float>>> seen(rows.size(), std::vector<std::vector<float>>(heads.size()));
  const AttentionRecord record{heads, [&](std::size_t row, std::size_t head, std::span<const float> weights) {
                                 CHECK(seen[row][head].empty());
                                 seen[row][head].assign(weights.begin(), weights.end());
                               }};
  bench.decoder->step(
      rows, [](std::size_t, std::span<float>) {}, 1, &record, nullptr);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (const auto& weights : seen[row]) {
      CHECK(weights.size() == (row < 3 ? 9 : 5));
      double total = 0.0;
      for (const float weight : weights) total += weight;
      CHECK(total == doctest::Approx(1.0).epsilon(1e-5));
    }
    CHECK(seen[row][0] != seen[row][1]);
  }
}

TEST_CASE("attention is reported for the rows that want it, and logits are the same") {
  DecoderFixture bench;
  const auto source = bench.source(9);
  const auto step = [&](bool records) {
    const auto history = bench.decoder->make_history();
    auto rows = rows_of({1, 2, 3, 4}, *history, *source);
    rows[0].wants_attention = rows[2].wants_attention = false;
    const std::vector<AttentionHead> heads{{1, 3}};
    std::vector<int> seen(rows.size());
    const AttentionRecord record{heads, [&](std::size_t row, std::size_t, std::span<const float>) { ++seen[row]; }};
    Logits logits(rows.size());
    bench.decoder->step(
        rows, [&](std::size_t row, std::span<float> of) { logits[row].assign(of.begin(), of.end()); }, 1,
        records ? &record : nullptr, nullptr);
    CHECK(seen == (records ? std::vector<int>{0, 1, 0, 1} : std::vector<int>(4)));
    return logits;
  };
  CHECK(step(true) == step(false));
}

#include <doctest/doctest.h>

#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "error.h"
#include "support/counting_abort.h"
#include "support/message_of_error.h"
#include "transformer/decoder_pair.h"
#include "transformer/sample_text.h"

// Texts and sources on a device: what they share, what is reused, and the state after an abort.
namespace {

using namespace verbatim;
using namespace verbatim::transformer;
using test::message_of_error;

}  // namespace

TEST_CASE("on a device, forked texts continue independently and share their beginning") {
  DecoderPair pair;
  const auto source = pair.source(9);
  const auto text = pair.text();
  pair.step(rows_of({1, 2, 3, 4}, text, source));
  const std::size_t own = text.gpu->memory_bytes();
  CHECK(own == 4 * 2 * 2 * 32 * sizeof(float));
  auto fork = DecoderPair::fork(text);
  CHECK(fork.gpu->length() == 4);
  CHECK(text.gpu->memory_bytes() == 0);
  CHECK(fork.gpu->memory_bytes() == 0);
  pair.step({{5, text, source}, {6, fork, source}});
  CHECK(fork.gpu->memory_bytes() == own / 4);
  const auto again = DecoderPair::fork(fork);
  fork.gpu.reset();
  fork.cpu.reset();
  CHECK(text.gpu->memory_bytes() == own / 4);
  CHECK(again.gpu->memory_bytes() == own / 4);
  pair.step({{7, again, source}, {8, text, source}});
}

TEST_CASE("freed memory is reused, and its old contents affect nothing") {
  DecoderPair pair;
  std::vector<DecoderPair::Source> sources;
  for (std::size_t i = 0; i < 6; ++i) sources.push_back(pair.source(40));
  // Infinities at positions that are padding of the next source.
  const std::vector<float> endless(40 * 2 * 32, std::numeric_limits<float>::infinity());
  for (std::size_t layer = 0; layer < 2; ++layer) sources[2].gpu->write(layer, 0, endless);
  sources.erase(sources.begin() + 2);
  const auto next = pair.source(3);
  const auto text = pair.text(), second = pair.text();
  pair.step({{1, text, next}, {2, second, sources[4]}});
}

TEST_CASE("tables grow while texts and sources are in use") {
  DecoderPair pair({.positions = 601});
  const auto text = pair.text();
  const auto source = pair.source(5);
  pair.step(rows_of(sample_text(20, 1), text, source));
  // More and longer sources than there was room for, and more tokens.
  std::vector<DecoderPair::Source> sources;
  for (std::size_t i = 0; i < 11; ++i) sources.push_back(pair.source(10 * i + 1));
  pair.step({{3, text, source}});
  const auto longest = pair.text();
  pair.step(rows_of(sample_text(600, 1), longest, sources[10], false));
  pair.step({{4, text, source}});
  pair.step({{5, DecoderPair::fork(longest), sources[3]}, {6, text, source}});
}

TEST_CASE("an aborted step leaves every text on a device as it was") {
  DecoderPair pair({.positions = 200});
  const auto source = pair.source(9);
  const auto tokens = sample_text(150, 1);
  const test::CountingAbort never;
  {
    const auto text = pair.text();
    pair.gpu_step(rows_of(tokens, text, source), &never);
  }
  // Once at the start, and before each of three runs.
  CHECK(never.looks() == 4);
  for (int at = 1; at <= never.looks(); ++at) {
    CAPTURE(at);
    const auto text = pair.text();
    pair.step(rows_of({1, 2}, text, source));
    const auto fork = DecoderPair::fork(text);
    const test::CountingAbort abort(at);
    auto rows = rows_of(tokens, text, source);
    rows.push_back({9, fork, source});
    CHECK(message_of_error(ErrorCode::kAborted, [&] { pair.gpu_step(rows, &abort); }) == "the computation was aborted");
    CHECK(text.gpu->length() == 2);
    CHECK(fork.gpu->length() == 2);
    CHECK(text.gpu->memory_bytes() == 0);
    pair.step({{6, text, source}, {7, fork, source}});
  }
}

TEST_CASE("memory on a device is reused, and freed when it is not needed") {
  DecoderPair pair({.positions = 300});
  const auto use = [&](std::size_t count, std::size_t length) {
    std::vector<DecoderPair::Text> texts;
    std::vector<DecoderPair::Source> sources;
    for (std::size_t i = 0; i < count; ++i) {
      texts.push_back(pair.text());
      sources.push_back(pair.source(20));
      pair.gpu_step(rows_of(sample_text(length, i), texts.back(), sources.back(), false));
    }
  };
  use(1, 10);
  const std::size_t little = pair.gpu().memory_bytes();
  use(20, 250);
  const std::size_t much = pair.gpu().memory_bytes();
  CHECK(much > 5 * little);
  use(20, 250);
  CHECK(pair.gpu().memory_bytes() <= much);
  // The same amount may be needed again once.
  use(1, 10);
  CHECK(pair.gpu().memory_bytes() > much / 2);
  use(1, 10);
  CHECK(pair.gpu().memory_bytes() < 3 * little);
  // Graphs of many shapes do not accumulate: small ones replace the large ones.
  use(1, 64);
  const std::size_t with_large = pair.gpu().memory_bytes();
  for (const std::size_t length : {32, 16, 8, 4, 2, 1}) use(1, length);
  CHECK(pair.gpu().memory_bytes() < with_large);
}

TEST_CASE("sources are made and written while others are read") {
  DecoderPair pair;
  const auto text = pair.text();
  const auto source = pair.source(20);
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) {
      std::vector<std::unique_ptr<CrossCache>> made;
      for (int j = 0; j < 8; ++j) {
        made.push_back(pair.gpu().make_cross_cache(static_cast<std::size_t>(10 * i + j + 1)));
        made.back()->write(1, 0, std::vector<float>(made.back()->positions() * 64, 1.0f));
      }
    }
  });
  for (const TokenId token : sample_text(40, 1)) pair.step({{token, text, source}});
  writer.join();
}

#include "transformer/gpu/decoder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "error.h"
#include "support/counting_abort.h"
#include "testing/random_transformer.h"
#include "transformer/cpu/decoder.h"
#include "transformer/gpu/executor.h"

// The graphs for GPUs on ggml's own device for processors, beside the kernels for processors.
namespace {

using namespace verbatim;
using namespace verbatim::transformer;
using Logits = std::vector<std::vector<float>>;

ggml_backend_dev_t processor() { return backend_device_of("cpu"); }

struct Types {
  ComputeType weights = ComputeType::kFloat32;
  CacheTypes caches;
};

// ggml's device for processors looks the other GELU up in a table of halves.
RandomDecoderShape exact(RandomDecoderShape shape) {
  shape.activation = Activation::kGelu;
  return shape;
}

// The same decoder twice, and texts and sources that both have.
class Pair {
 public:
  struct Text {
    std::unique_ptr<History> gpu, cpu;
  };
  struct Source {
    std::unique_ptr<CrossCache> gpu, cpu;
  };
  struct Row {
    Row(TokenId its_token, const Text& its_text, const Source& its_source, bool wants = true)
        : token(its_token), text(&its_text), source(&its_source), wants_logits(wants) {}
    TokenId token;
    const Text* text;
    const Source* source;
    bool wants_logits;
  };

  explicit Pair(const RandomDecoderShape& shape = {}, Types types = {})
      : random_(exact(shape)),
        gpu_weights_(random_.model(), types.weights, ggml_backend_dev_buffer_type(processor())),
        cpu_weights_(random_.model(), ComputeType::kFloat32),
        gpu_(make_gpu_decoder(random_.model(), gpu_weights_, types.caches, processor())),
        cpu_(make_cpu_decoder(random_.model(), cpu_weights_, {}, kernels())) {}

  Decoder& gpu() { return *gpu_; }
  Text text() { return {gpu_->make_history(), cpu_->make_history()}; }
  static Text fork(const Text& text) { return {text.gpu->fork(), text.cpu->fork()}; }
  Source source(std::size_t positions) {
    Source made{gpu_->make_cross_cache(positions), cpu_->make_cross_cache(positions)};
    for (std::size_t layer = 0; layer < random_.shape().layers; ++layer) {
      const auto values = random_.source(positions);
      made.cpu->write(layer, 0, values);
      // In two parts, the second one first.
      const std::size_t half = positions / 2;
      const auto cut = std::span<const float>(values).subspan(half * 2 * random_.shape().width);
      made.gpu->write(layer, half, cut);
      if (half > 0) made.gpu->write(layer, 0, std::span(values).first(values.size() - cut.size()));
    }
    return made;
  }

  Logits gpu_step(const std::vector<Row>& rows, const AbortFlag* abort = nullptr,
                  const AttentionRecord* record = nullptr) {
    std::vector<DecoderInput> inputs;
    for (const Row& row : rows)
      inputs.push_back({row.token, row.text->gpu.get(), row.source->gpu.get(), row.wants_logits});
    return logits_of(*gpu_, inputs, abort, record);
  }
  Logits cpu_step(const std::vector<Row>& rows, const AttentionRecord* record = nullptr) {
    std::vector<DecoderInput> inputs;
    for (const Row& row : rows)
      inputs.push_back({row.token, row.text->cpu.get(), row.source->cpu.get(), row.wants_logits});
    return logits_of(*cpu_, inputs, nullptr, record);
  }
  // A step of both, whose logits are the same but for rounding.
  void step(const std::vector<Row>& rows, double tolerance = 1e-4) {
    const Logits found = gpu_step(rows), expected = cpu_step(rows);
    CHECK(furthest(found, expected) < tolerance);
  }

  static double furthest(const Logits& found, const Logits& expected) {
    double distance = 0.0;
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found[i].size() == expected[i].size());
      for (std::size_t j = 0; j < found[i].size(); ++j) {
        REQUIRE(std::isfinite(found[i][j]));
        distance = std::max(distance, static_cast<double>(std::abs(found[i][j] - expected[i][j])));
      }
    }
    return distance;
  }

 private:
  static Logits logits_of(Decoder& decoder, const std::vector<DecoderInput>& inputs, const AbortFlag* abort,
                          const AttentionRecord* record) {
    Logits logits(inputs.size());
    decoder.step(
        inputs,
        [&](std::size_t row, std::span<float> values) {
          CHECK(logits[row].empty());
          logits[row].assign(values.begin(), values.end());
        },
        2, record, abort);
    return logits;
  }

  RandomDecoder random_;
  GpuWeights gpu_weights_;
  CpuWeights cpu_weights_;
  std::unique_ptr<Decoder> gpu_, cpu_;
};

using Rows = std::vector<Pair::Row>;

Rows rows_of(const std::vector<TokenId>& tokens, const Pair::Text& text, const Pair::Source& source,
             bool wants_logits = true) {
  Rows rows;
  for (const TokenId token : tokens) rows.push_back({token, text, source, wants_logits});
  return rows;
}

std::vector<TokenId> tokens_of(std::size_t length, std::size_t seed) {
  std::vector<TokenId> tokens(length);
  for (std::size_t i = 0; i < length; ++i)
    tokens[i] = static_cast<TokenId>((seed * 31 + i * 17 + i * i) % 70);
  return tokens;
}

template <typename Call>
std::string error_of(ErrorCode code, Call call) {
  try {
    call();
  } catch (const EngineError& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the graphs for GPUs compute what the processor's kernels do, a token a step") {
  Pair pair;
  const auto text = pair.text();
  const auto source = pair.source(40);
  for (const TokenId token : tokens_of(50, 1)) pair.step({{token, text, source}});
  CHECK(text.gpu->length() == 50);
}

TEST_CASE("rows at other positions and of other sources share a graph, come and go") {
  Pair pair({.heads = 2});
  constexpr std::size_t kTexts = 21;
  std::vector<Pair::Text> texts;
  std::vector<Pair::Source> sources;
  for (std::size_t i = 0; i < kTexts; ++i) {
    texts.push_back(pair.text());
    sources.push_back(pair.source(3 + 7 * i));
  }
  for (std::size_t t = 0; t < 40; ++t) {
    Rows rows;
    // Each comes and ends at a time of its own; the last ones are far from the first slots.
    for (std::size_t i = 0; i < kTexts; ++i) {
      if (t >= i && t < 10 + 2 * i)
        rows.push_back({static_cast<TokenId>((i + t) % 70), texts[i], sources[i]});
    }
    std::ranges::rotate(rows, rows.begin() + static_cast<std::ptrdiff_t>(t % rows.size()));
    pair.step(rows);
  }
}

TEST_CASE("texts that are known may be given at once, whole or in part, beside others") {
  Pair pair({.positions = 200});
  const auto first = pair.text(), second = pair.text(), third = pair.text();
  const auto source = pair.source(9), other = pair.source(70);
  // More than a run takes at once, between the rows of two others.
  const auto tokens = tokens_of(150, 1);
  Rows rows;
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
  Pair pair;
  std::vector<Pair::Text> texts;
  const auto source = pair.source(12), other = pair.source(5);
  Rows rows;
  for (std::size_t i = 0; i < 70; ++i) texts.push_back(pair.text());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (const TokenId token : tokens_of(1 + i % 9, i))
      rows.push_back({token, texts[i], i % 4 ? source : other});
  }
  pair.step(rows);
  rows.clear();
  for (int copy = 0; copy < 4; ++copy) {
    for (std::size_t i = 0; i < 70; ++i) texts.push_back(Pair::fork(texts[i]));
  }
  for (std::size_t i = 0; i < texts.size(); ++i)
    rows.push_back({static_cast<TokenId>(i % 70), texts[i], (i % 70) % 4 ? source : other});
  CHECK(rows.size() == 350);
  pair.step(rows);
}

TEST_CASE("texts that fork go on by themselves on a device, and share what they had") {
  Pair pair;
  const auto source = pair.source(9);
  const auto text = pair.text();
  pair.step(rows_of({1, 2, 3, 4}, text, source));
  const std::size_t own = text.gpu->memory_bytes();
  CHECK(own == 4 * 2 * 2 * 32 * sizeof(float));
  auto fork = Pair::fork(text);
  CHECK(fork.gpu->length() == 4);
  CHECK(text.gpu->memory_bytes() == 0);
  CHECK(fork.gpu->memory_bytes() == 0);
  pair.step({{5, text, source}, {6, fork, source}});
  CHECK(fork.gpu->memory_bytes() == own / 4);
  const auto again = Pair::fork(fork);
  fork.gpu.reset();
  fork.cpu.reset();
  CHECK(text.gpu->memory_bytes() == own / 4);
  CHECK(again.gpu->memory_bytes() == own / 4);
  pair.step({{7, again, source}, {8, text, source}});
}

TEST_CASE("what was freed is used again, and leaves nothing to who has it next") {
  Pair pair;
  std::vector<Pair::Source> sources;
  for (std::size_t i = 0; i < 6; ++i) sources.push_back(pair.source(40));
  // Infinities in what is padding to the next one.
  const std::vector<float> endless(40 * 2 * 32, std::numeric_limits<float>::infinity());
  for (std::size_t layer = 0; layer < 2; ++layer) sources[2].gpu->write(layer, 0, endless);
  sources.erase(sources.begin() + 2);
  const auto next = pair.source(3);
  const auto text = pair.text(), second = pair.text();
  pair.step({{1, text, next}, {2, second, sources[4]}});
}

TEST_CASE("tables grow beneath texts and sources that are in use") {
  Pair pair({.positions = 601});
  const auto text = pair.text();
  const auto source = pair.source(5);
  pair.step(rows_of(tokens_of(20, 1), text, source));
  // More sources than there was room for, longer ones, and more tokens.
  std::vector<Pair::Source> sources;
  for (std::size_t i = 0; i < 11; ++i) sources.push_back(pair.source(10 * i + 1));
  pair.step({{3, text, source}});
  const auto longest = pair.text();
  pair.step(rows_of(tokens_of(600, 1), longest, sources[10], false));
  pair.step({{4, text, source}});
  pair.step({{5, Pair::fork(longest), sources[3]}, {6, text, source}});
}

TEST_CASE("an aborted step leaves every text on a device as it was") {
  Pair pair({.positions = 200});
  const auto source = pair.source(9);
  const auto tokens = tokens_of(150, 1);
  const test::CountingAbort never;
  {
    const auto text = pair.text();
    pair.gpu_step(rows_of(tokens, text, source), &never);
  }
  // At first, and before each of three runs.
  CHECK(never.looks() == 4);
  for (int at = 1; at <= never.looks(); ++at) {
    CAPTURE(at);
    const auto text = pair.text();
    pair.step(rows_of({1, 2}, text, source));
    const auto fork = Pair::fork(text);
    const test::CountingAbort abort(at);
    auto rows = rows_of(tokens, text, source);
    rows.push_back({9, fork, source});
    CHECK(error_of(ErrorCode::kAborted, [&] { pair.gpu_step(rows, &abort); }) ==
          "the computation was aborted");
    CHECK(text.gpu->length() == 2);
    CHECK(fork.gpu->length() == 2);
    CHECK(text.gpu->memory_bytes() == 0);
    pair.step({{6, text, source}, {7, fork, source}});
  }
}

TEST_CASE("what there is not is refused by name on a device and changes nothing") {
  Pair pair({.positions = 3});
  const auto source = pair.source(4);
  const auto text = pair.text();
  const auto refusal = [&](const std::vector<TokenId>& tokens) {
    return error_of(ErrorCode::kInvalidArgument, [&] { pair.gpu_step(rows_of(tokens, text, source)); });
  };
  CHECK(refusal({1, 70}) == "token 70 is not one of the 70 of the vocabulary");
  CHECK(refusal({-1}) == "token -1 is not one of the 70 of the vocabulary");
  CHECK(refusal({1, 2, 3, 4}) == "the text is longer than the decoder's 3 positions");
  const std::vector<AttentionHead> heads{{0, 4}};
  const AttentionRecord record{heads, [](std::size_t, std::size_t, std::span<const float>) {}};
  CHECK(error_of(ErrorCode::kInvalidArgument, [&] {
          pair.gpu_step({{1, text, source}}, nullptr, &record);
        }) == "no head 4 in layer 0; there are 4 in each of 2");
  CHECK(text.gpu->length() == 0);
  CHECK(text.gpu->memory_bytes() == 0);
  pair.step(rows_of({1, 2, 3}, text, source));
  const auto made = [](CacheTypes types) {
    return error_of(ErrorCode::kInvalidArgument, [&] { Pair({}, {ComputeType::kFloat32, types}); });
  };
  CHECK(made({ComputeType::kInt8, ComputeType::kFloat32}) ==
        "no cross-attention in int8; float32 and float16 are allowed");
  CHECK(made({ComputeType::kFloat32, ComputeType::kBfloat16}) ==
        "no self-attention in bfloat16; float32 and float16 are allowed");
}

TEST_CASE("a device shows the weights of chosen heads as the processor does") {
  Pair pair({.positions = 200});
  const auto source = pair.source(9), other = pair.source(50);
  const std::vector<AttentionHead> heads{{1, 3}, {0, 0}, {1, 1}};
  using Seen = std::vector<std::vector<std::vector<float>>>;
  const auto seen_by = [&](const auto& step, const Rows& rows) {
    Seen seen(rows.size(), std::vector<std::vector<float>>(heads.size()));
    const AttentionRecord record{heads,
                                 [&](std::size_t row, std::size_t head, std::span<const float> weights) {
                                   CHECK(seen[row][head].empty());
                                   seen[row][head].assign(weights.begin(), weights.end());
                                 }};
    step(rows, record);
    return seen;
  };
  const auto first = pair.text(), second = pair.text();
  Rows rows = rows_of(tokens_of(70, 2), first, source, false);
  for (const auto& row : rows_of({4, 5}, second, other)) rows.insert(rows.begin() + 3, row);
  const Seen found = seen_by(
      [&](const Rows& of, const AttentionRecord& record) { pair.gpu_step(of, nullptr, &record); }, rows);
  const Seen expected =
      seen_by([&](const Rows& of, const AttentionRecord& record) { pair.cpu_step(of, &record); }, rows);
  for (std::size_t row = 0; row < rows.size(); ++row) CHECK(Pair::furthest(found[row], expected[row]) < 1e-5);
}

TEST_CASE("weights and caches of a device in halves and bytes lead to nearly the same") {
  const auto tokens = tokens_of(40, 3);
  const auto check = [&](Types types, double tolerance) {
    Pair pair({}, types);
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
  Pair pair({}, {ComputeType::kFloat32, kHalves});
  const auto text = pair.text();
  const auto source = pair.source(40);
  pair.step(rows_of(tokens, text, source), 0.02);
  CHECK(text.gpu->memory_bytes() == 40 * 2 * 2 * 32 * 2);
  CHECK(source.gpu->memory_bytes() == 64 * 2 * 2 * 32 * 2);
}

TEST_CASE("memory on a device is used again, and given back when nobody needs it") {
  Pair pair({.positions = 300});
  const auto use = [&](std::size_t count, std::size_t length) {
    std::vector<Pair::Text> texts;
    std::vector<Pair::Source> sources;
    for (std::size_t i = 0; i < count; ++i) {
      texts.push_back(pair.text());
      sources.push_back(pair.source(20));
      pair.gpu_step(rows_of(tokens_of(length, i), texts.back(), sources.back(), false));
    }
  };
  use(1, 10);
  const std::size_t little = pair.gpu().memory_bytes();
  use(20, 250);
  const std::size_t much = pair.gpu().memory_bytes();
  CHECK(much > 5 * little);
  use(20, 250);
  CHECK(pair.gpu().memory_bytes() <= much);
  // As much may be needed again, once.
  use(1, 10);
  CHECK(pair.gpu().memory_bytes() > much / 2);
  use(1, 10);
  CHECK(pair.gpu().memory_bytes() < 3 * little);
  // Graphs of many shapes do not pile up: those of the small ones take the places of the large ones.
  use(1, 64);
  const std::size_t with_large = pair.gpu().memory_bytes();
  for (const std::size_t length : {32, 16, 8, 4, 2, 1}) use(1, length);
  CHECK(pair.gpu().memory_bytes() < with_large);
}

TEST_CASE("sources are made and written while others are read") {
  Pair pair;
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
  for (const TokenId token : tokens_of(40, 1)) pair.step({{token, text, source}});
  writer.join();
}

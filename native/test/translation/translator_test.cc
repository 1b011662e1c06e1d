#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "error.h"
#include "support/counting_abort.h"
#include "support/translation_backend.h"
#include "testing/random_ct2_model.h"
#include "testing/temporary_directory.h"
#include "translation/backends/ggml/model.h"
#include "translation/backends/load.h"

// The translator's contract: options, special tokens, empty sources, abort, sharing.
namespace {

using namespace verbatim::transformer;
using namespace verbatim::translation;
using verbatim::test::CountingAbort;
using Tokens = std::vector<std::string>;

std::filesystem::path fixture(const char* name) {
  return std::filesystem::path(VERBATIM_SOURCE_DIR) / "test/fixtures/ct2" / name;
}

struct Loaded {
  explicit Loaded(const std::filesystem::path& directory, int threads = 1)
      : model(load_under_test(directory)), translator(model->create_translator(threads)) {}

  TranslationBatch run(const std::vector<TranslationInput>& inputs, const TranslationOptions& options = {},
                       const verbatim::AbortFlag* abort = nullptr) {
    return translator->translate(inputs, options, abort);
  }
  Tokens first(const Tokens& source, const TranslationOptions& options = {}) {
    return run({{source, {}}}, options).results[0][0].tokens;
  }

  std::shared_ptr<const TranslationModel> model;
  std::unique_ptr<Translator> translator;
};

TranslationOptions length(int tokens) {
  TranslationOptions options;
  options.min_decoding_length = options.max_decoding_length = tokens;
  return options;
}

std::vector<TranslationInput> many_inputs(int count) {
  std::vector<TranslationInput> inputs;
  for (int i = 0; i < count; ++i) {
    TranslationInput input;
    for (int j = 0; j <= i * 7 % 19; ++j) input.source.push_back("t" + std::to_string(3 + (i * 31 + j * 17) % 290));
    inputs.push_back(input);
  }
  return inputs;
}

}  // namespace

TEST_CASE("auto is the ggml backend, whatever else was built in") {
  CHECK(load_model(fixture("tiny-marian-int8"), {})->info().backend == "ggml");
}

TEST_CASE("weights stored in float16 are computed in float32 on the CPU, in float16 by the graphs for GPUs") {
  const auto directory = fixture("tiny-marian-float16");
  CHECK(load_ggml_model(directory, {})->info().compute_type == "float32");
  CHECK(load_ggml_model(directory, {}, GgmlExecutor::kGpuGraphs)->info().compute_type == "float16");
  TranslationModelOptions options;
  options.compute_type = "float16";
  CHECK_THROWS_WITH_AS(load_ggml_model(directory, options),
                       doctest::Contains("\"float16\" is for GPUs; float32, bfloat16, int8 and auto are allowed"),
                       verbatim::EngineError);
}

TEST_CASE("a model's info describes it") {
  const Loaded marian(fixture("tiny-marian-int8"));
  const TranslationModelInfo& info = marian.model->info();
  CHECK(info.compute_type == "int8");
  CHECK(info.device == "cpu");
  CHECK(info.source_vocabulary == 300);
  CHECK(info.add_source_eos);
  CHECK(!info.wants_source_eos);
  CHECK(!info.has_tokenizer);
  CHECK(marian.model->has_source_token("t5"));
  CHECK(!marian.model->has_target_token(">>es<<"));
  CHECK(Loaded(fixture("tiny-m2m-float32")).model->info().wants_source_eos);
}

TEST_CASE("results are bit-identical for a split batch, two threads, and other sentences in the batch") {
  const auto inputs = many_inputs(40);
  Loaded one(fixture("tiny-marian-int8")), two(fixture("tiny-marian-int8"), 2);
  TranslationOptions options = length(12);
  const auto whole = one.run(inputs, options);
  options.max_batch_size = 7;
  const auto parts = two.run(inputs, options);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TranslationHypothesis &in_whole = whole.results[i][0], &in_part = parts.results[i][0];
    equal += in_whole.tokens == in_part.tokens;
    if (is_ggml_under_test()) CHECK(in_whole.score == in_part.score);
  }
  // With CTranslate2's int8, near ties depend on the batch.
  CHECK(equal >= (is_ggml_under_test() ? inputs.size() : inputs.size() * 95 / 100));
  std::size_t tokens_in = inputs.size();  // one end token for each
  for (const auto& input : inputs) tokens_in += input.source.size();
  CHECK(whole.timings.tokens_in == tokens_in);
  CHECK(whole.timings.tokens_out == 12 * inputs.size());
}

TEST_CASE("an empty source's translation is its prefix, without decoding") {
  Loaded m2m(fixture("tiny-m2m-float32"));
  TranslationOptions options = length(5);
  options.num_hypotheses = 2;
  const auto batch = m2m.run({{{}, {}}, {{"</s>"}, {"t9"}}, {{"</s>", "t4"}, {}}, {{"t8", "</s>"}, {}}}, options);
  CHECK(batch.results[0][0].tokens.empty());
  CHECK(batch.results[0].size() == 2);
  CHECK(batch.results[1][1].tokens == Tokens{"t9"});
  CHECK(batch.results[1][1].score == 0.0f);
  CHECK(batch.results[2][0].tokens.empty());
  CHECK(batch.results[3][0].tokens.size() == 5);
}

TEST_CASE("lengths and prefixes") {
  Loaded model(fixture("tiny-m2m-float32"));
  const auto batch = model.run({{{"t8", "t9", "</s>"}, {"t40", "t41"}}}, length(6));
  const Tokens& tokens = batch.results[0][0].tokens;
  CHECK(tokens.size() == 6);
  CHECK(Tokens(tokens.begin(), tokens.begin() + 2) == Tokens{"t40", "t41"});
}

TEST_CASE("unknown tokens can be banned or replaced by the most attended source token") {
  const verbatim::test::TemporaryDirectory directory;
  RandomModelWriter writer({});
  // Only the unknown token can win.
  std::vector<float> bias(60, -100.0f);
  bias[0] = 100.0f;
  writer.variables().add_vector("decoder/projection/bias", bias);
  writer.write(directory.path());
  Loaded model(directory.path());
  TranslationOptions options = length(2);
  CHECK(model.first({"t7"}, options) == Tokens{"<unk>", "<unk>"});
  options.replace_unknowns = true;
  CHECK(model.first({"t7"}, options) == Tokens{"t7", "t7"});
  options.disable_unk = true;
  const Tokens banned = model.first({"t7"}, options);
  CHECK(std::ranges::find(banned, "<unk>") == banned.end());
}

TEST_CASE("a model without a start token requires a prefix, whose first token starts the decoder") {
  const verbatim::test::TemporaryDirectory directory;
  RandomModelWriter({.zero_start = false}).write(directory.path());
  std::ofstream(directory.path() / "config.json")
      << R"({"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "decoder_start_token": null,
             "add_source_bos": false, "add_source_eos": true, "layer_norm_epsilon": null})";
  Loaded model(directory.path());
  CHECK(!model.model->info().decoder_start_token);
  CHECK_THROWS_WITH_AS(model.first({"t7"}), doctest::Contains("target prefix"), verbatim::EngineError);
  CHECK(model.run({{{"t7"}, {"t9"}}}, length(3)).results[0][0].tokens.size() == 3);
}

TEST_CASE("options out of range are refused by name") {
  Loaded model(fixture("tiny-marian-float32"));
  const auto refused = [&](auto change, const char* words) {
    TranslationOptions options;
    change(options);
    CHECK_THROWS_WITH_AS(model.first({"t7"}, options), doctest::Contains(words), verbatim::EngineError);
  };
  refused([](TranslationOptions& o) { o.beam_size = 0; }, "beam_size is 0; 1 to 64 is allowed");
  refused([](TranslationOptions& o) { o.num_hypotheses = 5; }, "num_hypotheses is 5");
  refused([](TranslationOptions& o) { o.patience = -1.0f; }, "patience");
  refused([](TranslationOptions& o) { o.repetition_penalty = 0.0f; }, "repetition_penalty");
  refused([](TranslationOptions& o) { o.max_decoding_length = 0; }, "max_decoding_length");
  refused([](TranslationOptions& o) { o.min_decoding_length = 300; }, "min_decoding_length");
  CHECK_THROWS_WITH_AS(model.model->create_translator(0), doctest::Contains("thread"), verbatim::EngineError);
  TranslationModelOptions wrong;
  wrong.compute_type = "int4";
  CHECK_THROWS_WITH(load_under_test(fixture("tiny-marian-float32"), wrong), doctest::Contains("int4"));
  wrong = {};
  wrong.backend = "onnx";
  CHECK_THROWS_WITH(load_under_test(fixture("tiny-marian-float32"), wrong), doctest::Contains("onnx"));
  wrong = {};
  wrong.device = "cuda:77";
  CHECK_THROWS_AS(load_under_test(fixture("tiny-marian-float32"), wrong), verbatim::EngineError);
}

TEST_CASE("sources beyond the positions are refused, unless cut") {
  Loaded model(fixture("tiny-marian-float32"));  // 512 positions
  const Tokens source(600, "t7");
  CHECK_THROWS_WITH_AS(model.first(source), doctest::Contains("at most 512"), verbatim::EngineError);
  TranslationOptions options = length(2);
  options.max_input_length = 100;
  CHECK(model.run({{source, {}}}, options).timings.tokens_in == 100);
}

TEST_CASE("an abort stops a batch within a step and leaves the translator usable") {
  Loaded model(fixture("tiny-marian-float32"));
  const auto inputs = many_inputs(4);
  TranslationOptions options = length(60);
  // CTranslate2 polls once for every sentence and step, the ggml backend once for every node.
  const int further = is_ggml_under_test() ? 0 : static_cast<int>(inputs.size()) + 1;
  const auto code = [&](const CountingAbort& abort) -> std::optional<verbatim::ErrorCode> {
    try {
      model.run(inputs, options, &abort);
    } catch (const verbatim::EngineError& error) {
      return error.code();
    }
    return std::nullopt;
  };
  const Tokens expected = Loaded(fixture("tiny-marian-float32")).first({"t7", "t8"}, length(9));
  for (const int beams : {1, 8}) {
    // Beam search in CTranslate2 has no callback.
    if (beams > 1 && !is_ggml_under_test()) continue;
    CAPTURE(beams);
    options.beam_size = beams;
    const CountingAbort never;
    CHECK_FALSE(code(never));
    REQUIRE(never.looks() > options.max_decoding_length);
    for (const int at : {1, 2, never.looks() / 2, never.looks() - 1, never.looks()}) {
      CAPTURE(at);
      const CountingAbort abort(at);
      CHECK(code(abort) == verbatim::ErrorCode::kAborted);
      CHECK(abort.looks() <= at + further);
      CHECK(model.first({"t7", "t8"}, length(9)) == expected);
    }
  }
}

TEST_CASE("translators of one model run in parallel and outlive their handle on it") {
  auto model = load_under_test(fixture("tiny-m2m-int8"));
  const auto inputs = many_inputs(20);
  const auto expected = model->create_translator(1)->translate(inputs, length(10), nullptr);
  std::vector<std::unique_ptr<Translator>> translators;
  for (int i = 0; i < 3; ++i) translators.push_back(model->create_translator(1));
  model.reset();
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (auto& translator : translators) {
    threads.emplace_back([&] {
      const auto batch = translator->translate(inputs, length(10), nullptr);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        equal += batch.results[i][0].tokens == expected.results[i][0].tokens;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(equal == 60);
}

TEST_CASE("SentencePiece models beside the weights, or beside an Argos package's folder") {
  const verbatim::test::TemporaryDirectory package;
  const auto directory = package.path() / "model";
  RandomModelWriter({}).write(directory);
  CHECK_THROWS_WITH_AS(Loaded(directory).model->tokenize("text"), doctest::Contains("no tokenizer"),
                       verbatim::EngineError);
  for (const auto& [source, target] : std::vector<std::pair<std::filesystem::path, std::filesystem::path>>{
           {directory / "source.spm", directory / "target.spm"},
           {directory / "sentencepiece.bpe.model", {}},
           {package.path() / "sentencepiece.model", {}}}) {
    std::filesystem::copy_file(fixture("tiny.spm"), source);
    if (!target.empty()) std::filesystem::copy_file(fixture("tiny.spm"), target);
    const Loaded model(directory);
    CHECK(model.model->info().has_tokenizer);
    const Tokens tokens = model.model->tokenize("a model directory");
    CHECK(tokens.size() > 3);
    CHECK(model.model->detokenize(tokens) == "a model directory");
    std::filesystem::remove(source);
    if (!target.empty()) std::filesystem::remove(target);
  }
  std::ofstream(directory / "source.spm") << "not a model";
  CHECK_THROWS_WITH_AS(Loaded{directory}, doctest::Contains("not a SentencePiece model"), verbatim::EngineError);
}

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "error.h"
#include "support/translation_backend.h"
#include "testing/random_ct2_model.h"
#include "testing/temporary_directory.h"
#include "translation/ct2/transformer.h"
#include "translation/ct2/vocabulary.h"

// Binary versions, revisions, and the messages of refusals.
namespace {

using namespace verbatim::transformer;
using namespace verbatim::translation;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const verbatim::EngineError& error) {
    CHECK(error.code() == verbatim::ErrorCode::kInvalidModel);
    return error.what();
  }
  return "";
}

std::string refusal(Ct2Writer& writer) {
  const std::string content = writer.bytes(6, "TransformerSpec", 7);
  return message_of([&] { read_transformer(Ct2File::parse(bytes_of(content)), {}); });
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void rename(std::string& name, const std::string& from, const std::string& to) {
  const auto position = name.find(from);
  if (position != std::string::npos) name.replace(position, from.size(), to);
}

// The names of OpenNMT-tf's graph, as in revision 1.
Ct2Writer revision_1(Ct2Writer& present) {
  Ct2Writer old;
  for (const auto& [name, variable] : present.variables()) {
    if (variable.shape.empty()) continue;  // attributes were added later
    std::string renamed = name;
    rename(renamed, "embeddings_0/weight", "w_embs");
    rename(renamed, "embeddings/weight", "w_embs");
    rename(renamed, "projection/weight", "dense/kernel");
    rename(renamed, "projection/bias", "dense/bias");
    rename(renamed, "linear_0", "conv1d");
    rename(renamed, "linear_", "conv1d_");
    rename(renamed, "weight", "kernel");
    rename(renamed, "layer_norm", "LayerNorm");
    const bool is_decoder = name.starts_with("decoder");
    rename(renamed, "self_attention", is_decoder ? "masked_multi_head" : "multi_head");
    rename(renamed, "/attention", "/multi_head");
    old.variables()["transformer/" + renamed + ":0"] = variable;
  }
  return old;
}

std::vector<std::string> translate(const std::filesystem::path& directory) {
  TranslationOptions options;
  options.min_decoding_length = options.max_decoding_length = 6;
  const TranslationInput input{{"t5", "t9", "t17"}, {}};
  const auto model = load_under_test(directory);
  return model->create_translator(1)->translate(std::span(&input, 1), options, nullptr).results[0][0].tokens;
}

void write_old(const std::filesystem::path& directory, RandomModelWriter& model, Ct2Writer& variables,
               std::uint32_t version, const std::string& spec, std::uint32_t revision) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  variables.write(directory / "model.bin", version, spec, revision);
  model.write_vocabulary(directory / "source_vocabulary.json");
  model.write_vocabulary(directory / "target_vocabulary.json");
}

}  // namespace

TEST_CASE("every binary version and revision gives the same translation") {
  // The defaults of old files: 8 heads, relu, pre-norm, generated positions and no special tokens in the source.
  const RandomModel shape{
      .width = 32, .heads = 8, .pre_norm = true, .activation = 0, .zero_start = false, .positions = 0};
  const verbatim::test::TemporaryDirectory directory;
  RandomModelWriter model(shape);
  write_old(directory.path() / "v5", model, model.variables(), 5, "TransformerSpec", 7);
  const auto expected = translate(directory.path() / "v5");
  CHECK(expected.size() == 6);
  for (const std::uint32_t version : {2u, 3u, 4u}) {
    write_old(directory.path() / "old", model, model.variables(), version, "TransformerSpec", version + 1);
    // Before version 4, items of 2 bytes are int16; the head count is one.
    CHECK(translate(directory.path() / "old") == expected);
  }
  Ct2Writer first = revision_1(model.variables());
  write_old(directory.path() / "v1", model, first, 1, "", 1);
  CHECK(translate(directory.path() / "v1") == expected);
  Ct2Writer base;
  for (const auto& [name, variable] : model.variables().variables()) {
    if (!variable.shape.empty()) base.variables()[name] = variable;
  }
  write_old(directory.path() / "base", model, base, 2, "TransformerBase", 2);
  CHECK(translate(directory.path() / "base") == expected);
}

TEST_CASE("attributes of old files: shared by both sides, and special tokens") {
  const verbatim::test::TemporaryDirectory directory;
  RandomModelWriter model({.activation = 2});
  Ct2Writer& variables = model.variables();
  for (const char* name : {"num_heads", "pre_norm", "activation"}) {
    variables.variables()[name] = variables.variables().at(std::string("encoder/") + name);
    variables.variables().erase(std::string("encoder/") + name);
    variables.variables().erase(std::string("decoder/") + name);
  }
  variables.add_flag("with_source_eos", 1);
  variables.add_flag("with_target_bos", 0);
  write_old(directory.path() / "model", model, variables, 4, "TransformerSpec", 4);
  const auto info = load_under_test(directory.path() / "model")->info();
  CHECK(info.add_source_eos);
  CHECK(!info.add_source_bos);
  CHECK(info.decoder_start_token == "</s>");
}

TEST_CASE("a truncated file is refused wherever it is cut") {
  RandomModelWriter model(
      {.encoder_layers = 1, .decoder_layers = 1, .width = 4, .heads = 2, .inner = 4, .vocabulary = 5, .tied = true});
  const std::string content = model.variables().bytes(6, "TransformerSpec", 7);
  CHECK_NOTHROW(Ct2File::parse(bytes_of(content)));
  for (std::size_t size = 0; size < content.size(); ++size) {
    const std::string cut = content.substr(0, size);
    const std::string message = message_of([&] { Ct2File::parse(bytes_of(cut)); });
    REQUIRE(contains(message, "truncated"));
  }
}

TEST_CASE("wrong containers are refused by name") {
  CHECK(contains(message_of([] { Ct2File::parse(bytes_of(std::string("\x07\0\0\0", 4))); }), "binary version 7"));
  CHECK(contains(message_of([] { Ct2File::parse(bytes_of("lmgg....")); }), "binary version"));
  RandomModelWriter model({});
  const auto wrong_spec = model.variables().bytes(6, "WhisperSpec", 3);
  CHECK(contains(message_of([&] { read_transformer(Ct2File::parse(bytes_of(wrong_spec)), {}); }), "WhisperSpec"));
  const auto new_revision = model.variables().bytes(6, "TransformerSpec", 8);
  CHECK(contains(message_of([&] { read_transformer(Ct2File::parse(bytes_of(new_revision)), {}); }), "revision 8"));
  // A shape that is larger than the payload.
  Ct2Writer lying = model.variables();
  lying.variables().at("decoder/projection/weight").shape = {4000000000u, 4000000000u};
  CHECK(contains(refusal(lying), "do not fit its shape"));
}

TEST_CASE("wrong weights are refused by name") {
  const auto change = [](const std::function<void(Ct2Writer&)>& edit, ElementType type = ElementType::kFloat32) {
    RandomModelWriter model({.type = type});
    edit(model.variables());
    return refusal(model.variables());
  };
  CHECK(change([](Ct2Writer&) {}).empty());
  CHECK(contains(change([](Ct2Writer& w) { w.variables().erase("decoder/layer_1/ffn/linear_1/weight"); }),
                 "decoder/layer_1/ffn/linear_1/weight is missing"));
  CHECK(contains(change([](Ct2Writer& w) { w.add_vector("encoder/layer_0/ffn/linear_0/bias", {1.0f}); }),
                 "encoder/layer_0/ffn/linear_0/bias has 1 values, expected 64"));
  CHECK(contains(change([](Ct2Writer& w) { w.add_int16("decoder/num_heads", 5); }), "num_heads must divide"));
  CHECK(contains(change([](Ct2Writer& w) { w.add_flag("decoder/activation", 9); }), "activation 9 is unknown"));
  CHECK(contains(change([](Ct2Writer& w) { w.variables().erase("decoder/layer_0/ffn/linear_0/weight_scale"); },
                        ElementType::kInt8),
                 "weight_scale is missing"));
  CHECK(contains(
      change([](Ct2Writer& w) { w.add_vector("decoder/layer_0/ffn/linear_0/weight_scale", std::vector<float>(64)); },
             ElementType::kInt8),
      "not positive"));
  CHECK(contains(change([](Ct2Writer& w) { w.add_flag("decoder/alibi", 1); }), "decoder/alibi belongs to a feature"));
  CHECK(contains(change([](Ct2Writer& w) { w.add_vector("decoder/layer_0/self_attention/q_norm/gamma", {1.0f}); }),
                 "q_norm/gamma belongs to a feature"));
  CHECK(contains(change([](Ct2Writer& w) {
                   w.add_weight("encoder/embeddings_1/weight", 2, 2, {1, 2, 3, 4}, ElementType::kFloat32);
                 }),
                 "source features"));
}

TEST_CASE("wrong directories are refused by name") {
  const verbatim::test::TemporaryDirectory directory;
  const auto load = [&] { load_under_test(directory.path()); };
  CHECK_THROWS_WITH_AS(load(), doctest::Contains("model.bin"), verbatim::EngineError);
  RandomModelWriter({}).write(directory.path());
  CHECK_NOTHROW(load());
  const auto put = [&](const char* name, const std::string& text) { std::ofstream(directory.path() / name) << text; };
  put("config.json", R"({"add_source_eos": 1})");
  CHECK_THROWS_WITH(load(), doctest::Contains("\"add_source_eos\" must be true, false or null"));
  put("config.json", "{");
  CHECK_THROWS_WITH(load(), doctest::Contains("not valid JSON"));
  put("config.json", R"({"multi_query_attention": true})");
  CHECK_THROWS_WITH(load(), doctest::Contains("multi_query_attention"));
  put("config.json", "{}");
  put("shared_vocabulary.json", R"(["<unk>", 1])");
  CHECK_THROWS_WITH(load(), doctest::Contains("entry 1 is not a string"));
  put("shared_vocabulary.json", R"(["<unk>", "<s>", "</s>"])");
  CHECK_THROWS_WITH(load(), doctest::Contains("3 tokens, the projection 60 outputs"));
  std::filesystem::remove(directory.path() / "shared_vocabulary.json");
  CHECK_THROWS_WITH(load(), doctest::Contains("neither shared_vocabulary nor source_vocabulary"));
  std::filesystem::remove(directory.path() / "config.json");
  CHECK_THROWS_WITH(load(), doctest::Contains("config.json is missing"));
}

TEST_CASE("vocabularies: text lines, carriage returns, the unknown token, duplicates") {
  using Tokens = std::vector<std::string>;
  CHECK(parse_text_tokens("a\nb\n") == Tokens{"a", "b"});
  CHECK(parse_text_tokens("a\r\nb\r\n") == Tokens{"a", "b"});
  CHECK(parse_text_tokens("a\r\nb\n") == Tokens{"a\r", "b"});
  CHECK(parse_text_tokens("a\n\nb") == Tokens{"a", "", "b"});
  const Vocabulary vocabulary({"a", "b", "a"}, "<unk>");
  CHECK(vocabulary.size() == 4);
  CHECK(vocabulary.unk_id() == 3);
  CHECK(vocabulary.id("a") == 0);
  CHECK(vocabulary.token(2) == "a");
  CHECK(vocabulary.id("nothing") == 3);
}

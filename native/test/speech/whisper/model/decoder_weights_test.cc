#include "speech/whisper/model/decoder_weights.h"

#include <doctest/doctest.h>
#include <ggml.h>

#include <string>
#include <vector>

#include "speech/random_models/random_whisper_model.h"
#include "speech/whisper/small_models.h"

namespace verbatim::whisper {
namespace {

using transformer::Linear;
using transformer::MatrixView;

std::vector<float> rows_of(const MatrixView& view, std::size_t first, std::size_t count) {
  std::vector<float> values(count * view.columns);
  for (std::size_t i = 0; i < count; ++i) {
    view.read_row(first + i, std::span(values).subspan(i * view.columns, view.columns));
  }
  return values;
}

// The values of a tensor in the file's type, converted by ggml.
struct Stored {
  const test::SmallModel& model;

  std::vector<float> operator()(const std::string& name) const {
    const TensorShape tensor = expected_tensors(model.shape).at(name);
    std::vector<float> values = random_models::random_tensor(name, tensor, model.seed);
    if (tensor.type == GGML_TYPE_F32) return values;
    const std::int64_t columns = tensor.dimensions[0];
    const auto rows = static_cast<std::int64_t>(values.size()) / columns;
    std::vector<char> bytes(tensor.bytes());
    ggml_quantize_chunk(tensor.type, values.data(), bytes.data(), 0, rows, columns, nullptr);
    ggml_get_type_traits(tensor.type)->to_float(bytes.data(), values.data(), rows * columns);
    return values;
  }
};

}  // namespace

TEST_CASE("the decoder is read from files of every type of weights" * doctest::test_suite("long")) {
  for (const char* weights :
       {"f32", "f16", "q8_0", "q6_k", "q5_1", "q5_0", "q5_k", "q4_1", "q4_0", "q4_k", "q3_k", "q2_k"}) {
    CAPTURE(weights);
    const test::SmallModel model({.weights = weights, .text_layers = 2});
    const ModelReader reader(model.path());
    const transformer::Transformer decoder = read_decoder(reader);
    const Stored stored{model};
    const auto width = static_cast<std::size_t>(model.shape.text_state);
    const std::size_t vocabulary = static_cast<std::size_t>(model.shape.vocabulary);

    CHECK(decoder.width == width);
    CHECK(decoder.encoder.layers.empty());
    REQUIRE(decoder.decoder.layers.size() == 2);
    CHECK(decoder.projection.weight.rows == vocabulary);
    CHECK(decoder.projection.bias.empty());
    CHECK(rows_of(decoder.decoder.positions, 0, 448) == stored("decoder.positional_embedding"));
    CHECK(rows_of(decoder.decoder.embeddings, 0, vocabulary) == stored("decoder.token_embedding.weight"));
    CHECK(decoder.decoder.final_norm->gamma == stored("decoder.ln.weight"));
    for (std::size_t i = 0; i < 2; ++i) {
      const transformer::TransformerLayer& layer = decoder.decoder.layers[i];
      const std::string name = "decoder.blocks." + std::to_string(i);
      const Linear& stacked = layer.self_attention.query;
      REQUIRE(stacked.weight.rows == 3 * width);
      const char* const parts[] = {"query", "key", "value"};
      for (std::size_t part = 0; part < 3; ++part) {
        const std::string projection = name + ".attn." + parts[part];
        CHECK(rows_of(stacked.weight, part * width, width) == stored(projection + ".weight"));
        const std::vector<float> bias(stacked.bias.begin() + static_cast<std::ptrdiff_t>(part * width),
                                      stacked.bias.begin() + static_cast<std::ptrdiff_t>((part + 1) * width));
        CHECK(bias == (part == 1 ? std::vector<float>(width, 0.0f) : stored(projection + ".bias")));
      }
      REQUIRE(layer.cross_attention.has_value());
      CHECK(layer.cross_attention->key_value.weight.empty());
      CHECK(layer.cross_attention->norm.beta == stored(name + ".cross_attn_ln.bias"));
      CHECK(rows_of(layer.cross_attention->query.weight, 0, width) == stored(name + ".cross_attn.query.weight"));
      CHECK(rows_of(layer.feed_forward.up.weight, 0, 4 * width) == stored(name + ".mlp.0.weight"));
      CHECK(rows_of(layer.feed_forward.down.weight, 0, width) == stored(name + ".mlp.2.weight"));
      CHECK(layer.feed_forward.down.bias == stored(name + ".mlp.2.bias"));
    }
  }
}

}  // namespace verbatim::whisper

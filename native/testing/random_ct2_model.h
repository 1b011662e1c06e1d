#pragma once

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "testing/ct2_writer.h"

namespace verbatim::translation {

// Shape and switches of a model with random weights.
struct RandomModel {
  std::uint32_t encoder_layers = 2;
  std::uint32_t decoder_layers = 2;
  std::uint32_t width = 32;
  std::uint32_t heads = 4;
  std::uint32_t inner = 64;
  std::uint32_t vocabulary = 60;
  transformer::ElementType type = transformer::ElementType::kFloat32;
  bool pre_norm = false;
  int activation = 2;
  bool zero_start = true;
  // Rows of stored positions; 0: none.
  std::uint32_t positions = 64;
  // Largest relative distance (OpenNMT-py); 0: none.
  std::uint32_t relative = 0;
  bool gated = false;
  bool embeddings_norm = false;
  // Root mean square norms: no beta.
  bool rms_norm = false;
  bool tied = false;
  // i8 flag: 1 = sqrt(width), 0 = none.
  int scale_embeddings = 1;
  float scale_outputs = 1.0f;
  // Spread of the weights. The larger, the more the logits differ.
  float spread = 1.0f;
  unsigned seed = 1;
};

class RandomModelWriter {
 public:
  explicit RandomModelWriter(const RandomModel& model) : model_(model), random_(model.seed) { add_all(); }

  Ct2Writer& variables() { return writer_; }

  // Writes a whole directory of binary version 6.
  void write(const std::filesystem::path& directory) const {
    std::filesystem::create_directories(directory);
    writer_.write(directory / "model.bin", 6, "TransformerSpec", 7);
    std::ofstream(directory / "config.json")
        << R"({"unk_token":"<unk>","bos_token":"<s>","eos_token":"</s>","decoder_start_token":"<s>",)"
        << R"("add_source_bos":false,"add_source_eos":true,"layer_norm_epsilon":null})";
    write_vocabulary(directory / "shared_vocabulary.json");
  }

  void write_vocabulary(const std::filesystem::path& path) const {
    std::ofstream out(path);
    out << R"(["<unk>","<s>","</s>")";
    for (std::uint32_t i = 3; i < model_.vocabulary; ++i) out << ",\"t" << i << '"';
    out << ']';
  }

 private:
  std::vector<float> normal(std::size_t size, float deviation) {
    std::normal_distribution<float> distribution(0.0f, deviation);
    std::vector<float> values(size);
    for (float& value : values) value = distribution(random_);
    return values;
  }

  void add_linear(const std::string& name, std::uint32_t rows, std::uint32_t columns) {
    const float deviation = model_.spread / std::sqrt(static_cast<float>(columns));
    writer_.add_weight(name + "/weight", rows, columns, normal(std::size_t{rows} * columns, deviation), model_.type);
    writer_.add_vector(name + "/bias", normal(rows, 0.1f));
  }

  void add_norm(const std::string& name) {
    std::vector<float> gamma = normal(model_.width, 0.1f);
    for (float& value : gamma) value += 1.0f;
    writer_.add_vector(name + "/gamma", gamma);
    if (!model_.rms_norm) writer_.add_vector(name + "/beta", normal(model_.width, 0.1f));
  }

  void add_self_attention(const std::string& name) {
    add_norm(name + "/layer_norm");
    add_linear(name + "/linear_0", 3 * model_.width, model_.width);
    add_linear(name + "/linear_1", model_.width, model_.width);
    if (model_.relative == 0) return;
    const std::uint32_t rows = 2 * model_.relative + 1;
    const std::uint32_t columns = model_.width / model_.heads;
    for (const char* part : {"keys", "values"}) {
      writer_.add(name + "/relative_position_" + part, {rows, columns}, transformer::ElementType::kFloat32,
                  normal(std::size_t{rows} * columns, 0.5f));
    }
  }

  void add_cross_attention(const std::string& name) {
    add_norm(name + "/layer_norm");
    add_linear(name + "/linear_0", model_.width, model_.width);
    add_linear(name + "/linear_1", 2 * model_.width, model_.width);
    add_linear(name + "/linear_2", model_.width, model_.width);
  }

  void add_stack(const std::string& scope, std::uint32_t layers, bool is_decoder) {
    writer_.add_int16(scope + "/num_heads", static_cast<int>(model_.heads));
    writer_.add_flag(scope + "/pre_norm", model_.pre_norm);
    writer_.add_flag(scope + "/activation", model_.activation);
    writer_.add_flag(scope + "/scale_embeddings", model_.scale_embeddings);
    const std::string embeddings = scope + (is_decoder ? "/embeddings" : "/embeddings_0");
    writer_.add_weight(
        embeddings + "/weight", model_.vocabulary, model_.width,
        normal(std::size_t{model_.vocabulary} * model_.width, 1.0f / std::sqrt(static_cast<float>(model_.width))),
        model_.type);
    if (model_.positions > 0) {
      writer_.add(scope + "/position_encodings/encodings", {model_.positions, model_.width},
                  transformer::ElementType::kFloat32, normal(std::size_t{model_.positions} * model_.width, 0.5f));
    }
    if (model_.embeddings_norm) add_norm(scope + "/layernorm_embedding");
    if (model_.pre_norm) add_norm(scope + "/layer_norm");
    for (std::uint32_t i = 0; i < layers; ++i) {
      const std::string layer = scope + "/layer_" + std::to_string(i);
      add_self_attention(layer + "/self_attention");
      if (is_decoder) add_cross_attention(layer + "/attention");
      add_norm(layer + "/ffn/layer_norm");
      add_linear(layer + "/ffn/linear_0", model_.inner, model_.width);
      if (model_.gated) add_linear(layer + "/ffn/linear_0_noact", model_.inner, model_.width);
      add_linear(layer + "/ffn/linear_1", model_.width, model_.inner);
    }
  }

  void add_all() {
    add_stack("encoder", model_.encoder_layers, false);
    add_stack("decoder", model_.decoder_layers, true);
    writer_.add_flag("decoder/start_from_zero_embedding", model_.zero_start);
    if (model_.scale_outputs != 1.0f) {
      writer_.add<float>("decoder/scale_outputs", {}, transformer::ElementType::kFloat32, {model_.scale_outputs});
    }
    if (model_.tied) {
      writer_.add_vector("decoder/projection/bias", normal(model_.vocabulary, 0.1f));
      writer_.add_alias("decoder/projection/weight", "decoder/embeddings/weight");
    } else {
      add_linear("decoder/projection", model_.vocabulary, model_.width);
    }
  }

  RandomModel model_;
  std::mt19937 random_;
  Ct2Writer writer_;
};

}  // namespace verbatim::translation

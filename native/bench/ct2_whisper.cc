#include "ct2_whisper.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "speech/random_models/random_whisper_model.h"
#include "speech/random_models/scripted_decoder.h"
#include "speech/whisper/model/special_tokens.h"
#include "testing/ct2_writer.h"

namespace verbatim::bench {
namespace {

using transformer::ElementType;
using translation::Ct2Writer;
using whisper::TokenId;

// CTranslate2's Whisper models have revision 3 in a container of version 6.
constexpr std::uint32_t kContainerVersion = 6;
constexpr std::uint32_t kRevision = 3;

// The names by which CTranslate2 finds the special tokens; those of languages and text do not matter to it.
std::vector<std::string> vocabulary(const whisper::SpecialTokens& special) {
  std::vector<std::string> names;
  for (int id = 0; id < special.vocabulary; ++id) {
    const std::string kind = special.is_text(id) ? "w" : special.is_language(id) ? "<|language " : "<|time ";
    names.push_back(kind + std::to_string(id) + (special.is_text(id) ? "" : "|>"));
  }
  const std::pair<TokenId, const char*> known[] = {
      {special.end_of_text, "<|endoftext|>"}, {special.start_of_transcript, "<|startoftranscript|>"},
      {special.translate, "<|translate|>"},   {special.transcribe, "<|transcribe|>"},
      {special.start_of_lm, "<|startoflm|>"}, {special.start_of_previous, "<|startofprev|>"},
      {special.no_speech, "<|nospeech|>"},    {special.no_time_stamps, "<|notimestamps|>"}};
  for (const auto& [id, name] : known) names.at(static_cast<std::size_t>(id)) = name;
  return names;
}

// Writes the tensors of a Whisper file under CTranslate2's names.
class Translator {
 public:
  Translator(Ct2Writer& writer, const ModelShape& shape, std::uint32_t seed, const random_models::WeightTraits& traits)
      : writer_(writer), shape_(shape), tensors_(expected_tensors(shape)), seed_(seed), traits_(traits) {}

  std::vector<float> values(const std::string& name) const {
    const TensorShape& tensor = tensors_.at(name);
    std::vector<float> values = random_models::random_tensor(name, tensor, seed_);
    random_models::apply_traits(traits_, shape_, name, tensor, values);
    return values;
  }
  void matrix(const std::string& to, const std::string& from, ElementType type = ElementType::kFloat16) {
    const auto& size = tensors_.at(from).dimensions;
    writer_.add_weight(to, narrow(size[1]), narrow(size[0]), values(from), type);
  }
  void positions(const std::string& to, const std::string& from) { matrix(to, from, ElementType::kFloat32); }
  void scripted_positions(const std::string& to, const ModelShape& shape, int text_tokens) {
    std::vector<float> rows = values("decoder.positional_embedding");
    random_models::script_positions(rows, values("decoder.token_embedding.weight"), shape, text_tokens);
    writer_.add_weight(to, narrow(shape.text_context), narrow(shape.text_state), rows, ElementType::kFloat32);
  }
  void vector(const std::string& to, const std::string& from) { writer_.add_vector(to, values(from)); }
  void norm(const std::string& to, const std::string& from) {
    vector(to + "/gamma", from + ".weight");
    vector(to + "/beta", from + ".bias");
  }
  void linear(const std::string& to, const std::string& from) {
    matrix(to + "/weight", from + ".weight");
    vector(to + "/bias", from + ".bias");
  }
  void convolution(const std::string& to, const std::string& from) {
    const auto& size = tensors_.at(from + ".weight").dimensions;
    writer_.add_weight(to + "/weight", narrow(size[2]), narrow(size[1] * size[0]), values(from + ".weight"),
                       ElementType::kFloat16);
    writer_.variables().at(to + "/weight").shape = {narrow(size[2]), narrow(size[1]), narrow(size[0])};
    vector(to + "/bias", from + ".bias");
  }
  // Stacks projections of the same input; Whisper's keys have no bias.
  void stacked(const std::string& to, const std::string& from, const std::vector<std::string>& parts) {
    std::vector<float> weights, biases;
    const auto width = tensors_.at(from + ".key.weight").dimensions[0];
    for (const std::string& part : parts) {
      append(weights, values(from + "." + part + ".weight"));
      const std::string bias = from + "." + part + ".bias";
      append(biases, tensors_.contains(bias) ? values(bias) : std::vector<float>(static_cast<std::size_t>(width)));
    }
    writer_.add_weight(to + "/weight", narrow(width * static_cast<std::int64_t>(parts.size())), narrow(width), weights,
                       ElementType::kFloat16);
    writer_.add_vector(to + "/bias", biases);
  }
  // Self-attention and feed-forward block of a layer.
  void layer(const std::string& to, const std::string& from) {
    norm(to + "/self_attention/layer_norm", from + ".attn_ln");
    stacked(to + "/self_attention/linear_0", from + ".attn", {"query", "key", "value"});
    linear(to + "/self_attention/linear_1", from + ".attn.out");
    norm(to + "/ffn/layer_norm", from + ".mlp_ln");
    linear(to + "/ffn/linear_0", from + ".mlp.0");
    linear(to + "/ffn/linear_1", from + ".mlp.2");
  }

 private:
  static std::uint32_t narrow(std::int64_t size) { return static_cast<std::uint32_t>(size); }
  static void append(std::vector<float>& all, const std::vector<float>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }

  Ct2Writer& writer_;
  ModelShape shape_;
  std::unordered_map<std::string, TensorShape> tensors_;
  std::uint32_t seed_;
  random_models::WeightTraits traits_;
};

void add_encoder(Ct2Writer& writer, Translator& from, const ModelShape& shape) {
  writer.add_int16("encoder/num_heads", shape.audio_heads);
  from.convolution("encoder/conv1", "encoder.conv1");
  from.convolution("encoder/conv2", "encoder.conv2");
  from.positions("encoder/position_encodings/encodings", "encoder.positional_embedding");
  from.norm("encoder/layer_norm", "encoder.ln_post");
  for (int i = 0; i < shape.audio_layers; ++i) {
    from.layer("encoder/layer_" + std::to_string(i), "encoder.blocks." + std::to_string(i));
  }
}

void add_cross_attention(Translator& from, const std::string& layer, const std::string& source) {
  from.norm(layer + "/attention/layer_norm", source + ".cross_attn_ln");
  from.linear(layer + "/attention/linear_0", source + ".cross_attn.query");
  from.stacked(layer + "/attention/linear_1", source + ".cross_attn", {"key", "value"});
  from.linear(layer + "/attention/linear_2", source + ".cross_attn.out");
}

void add_decoder(Ct2Writer& writer, Translator& from, const ModelShape& shape, int text_tokens) {
  writer.add_int16("decoder/num_heads", shape.text_heads);
  writer.add_flag("decoder/pre_norm", 1);
  writer.add_flag("decoder/scale_embeddings", 0);
  writer.add_flag("decoder/activation", 3);
  from.matrix("decoder/embeddings/weight", "decoder.token_embedding.weight");
  writer.add_alias("decoder/projection/weight", "decoder/embeddings/weight");
  const std::string positions = "decoder/position_encodings/encodings";
  if (text_tokens > 0) {
    from.scripted_positions(positions, shape, text_tokens);
  } else {
    from.positions(positions, "decoder.positional_embedding");
  }
  from.norm("decoder/layer_norm", "decoder.ln");
  for (int i = 0; i < shape.text_layers; ++i) {
    const std::string layer = "decoder/layer_" + std::to_string(i), source = "decoder.blocks." + std::to_string(i);
    from.layer(layer, source);
    add_cross_attention(from, layer, source);
  }
}

void write_json(const std::filesystem::path& path, const nlohmann::json& value) {
  std::ofstream stream;
  stream.exceptions(std::ios::failbit | std::ios::badbit);
  stream.open(path);
  stream << value.dump();
}

}  // namespace

void write_ct2_whisper(const ModelShape& shape, std::uint32_t seed, const std::filesystem::path& directory,
                       int text_tokens, const random_models::WeightTraits& traits) {
  const whisper::SpecialTokens special = whisper::special_tokens(shape.vocabulary);
  std::filesystem::create_directories(directory);
  Ct2Writer writer;
  Translator from(writer, shape, seed, traits);
  add_encoder(writer, from, shape);
  add_decoder(writer, from, shape, text_tokens);
  writer.write(directory / "model.bin", kContainerVersion, "WhisperSpec", kRevision);
  write_json(directory / "vocabulary.json", vocabulary(special));
  write_json(directory / "config.json", {{"suppress_ids", nlohmann::json::array()},
                                         {"suppress_ids_begin", nlohmann::json::array()},
                                         {"lang_ids", {special.language(0)}},
                                         {"alignment_heads", nlohmann::json::array()}});
}

}  // namespace verbatim::bench

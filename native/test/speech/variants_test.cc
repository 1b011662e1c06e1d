// Kinds of models that are not bundled, derived from the bundled one: English only, and two decoder layers (which makes
// whisper.cpp decode without time stamps). Their text is meaningless; the test is about how they are decoded.
#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <sstream>
#include <string>

#include "error.h"
#include "speech/model_file.h"
#include "speech/support.h"
#include "speech/utf8.h"
#include "speech/whisper_cpp/slot.h"

namespace verbatim {
namespace {

std::int32_t integer_at(const std::string& bytes, std::size_t at) {
  std::int32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

void set_integer(std::string& bytes, std::size_t at, std::int32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

struct Tensor {
  std::string name;
  // Rank, name length, type, dimensions and the name, as in the file.
  std::string header;
  std::string data;
};

// A ggml Whisper file in its parts.
struct ModelParts {
  std::string head;
  std::vector<Tensor> tensors;

  std::string joined() const {
    std::string bytes = head;
    for (const Tensor& tensor : tensors) bytes += tensor.header + tensor.data;
    return bytes;
  }
};

std::size_t end_of_vocabulary(const std::string& bytes, const ModelShape& shape) {
  std::size_t at = 48 + 8 + sizeof(float) * static_cast<std::size_t>(shape.mels) * 201;
  const std::int32_t tokens = integer_at(bytes, at);
  at += 4;
  for (std::int32_t i = 0; i < tokens; ++i) at += 4 + static_cast<std::size_t>(integer_at(bytes, at));
  return at;
}

ModelParts bundled_parts() {
  const std::string bytes = test::file_text(test::bundled_model_path());
  std::istringstream stream(bytes);
  const ModelShape shape = check_model_file(stream).shape;
  const auto shapes = expected_tensors(shape);
  ModelParts parts;
  std::size_t at = end_of_vocabulary(bytes, shape);
  parts.head = bytes.substr(0, at);
  while (at < bytes.size()) {
    const auto rank = static_cast<std::size_t>(integer_at(bytes, at));
    const auto name_bytes = static_cast<std::size_t>(integer_at(bytes, at + 4));
    const std::size_t header_bytes = 12 + 4 * rank + name_bytes;
    Tensor tensor;
    tensor.header = bytes.substr(at, header_bytes);
    tensor.name = tensor.header.substr(header_bytes - name_bytes);
    tensor.data = bytes.substr(at + header_bytes, shapes.at(tensor.name).bytes());
    at += header_bytes + tensor.data.size();
    parts.tensors.push_back(std::move(tensor));
  }
  return parts;
}

// A vocabulary with one token less is English.
void make_english(ModelParts& parts) {
  const std::int32_t words = integer_at(parts.head, 4);
  set_integer(parts.head, 4, 51864);
  for (Tensor& tensor : parts.tensors) {
    if (tensor.name != "decoder.token_embedding.weight") continue;
    const std::size_t row = tensor.data.size() / static_cast<std::size_t>(words);
    set_integer(tensor.header, 16, 51864);
    tensor.data.resize(51864 * row);
  }
}

void make_two_layers(ModelParts& parts) {
  const std::int32_t layers = integer_at(parts.head, 36);
  set_integer(parts.head, 36, 2);
  for (std::int32_t layer = 2; layer < layers; ++layer) {
    const std::string prefix = "decoder.blocks." + std::to_string(layer) + ".";
    std::erase_if(parts.tensors, [&](const Tensor& tensor) { return tensor.name.starts_with(prefix); });
  }
}

std::shared_ptr<const SpeechModel> variant(const std::function<void(ModelParts&)>& change) {
  ModelParts parts = bundled_parts();
  change(parts);
  const test::TemporaryFile file("variant.bin");
  file.write(parts.joined());
  return SpeechModel::load(file.path(), "cpu");
}

DecodeOptions in_language(const std::string& language) {
  DecodeOptions options;
  options.language = language;
  options.own_length = true;
  options.temperature_increment = 0.0f;
  options.max_tokens = 24;
  return options;
}

}  // namespace

TEST_CASE("the bundled model is unchanged by being parsed and written again") {
  CHECK(bundled_parts().joined() == test::file_text(test::bundled_model_path()));
}

TEST_CASE("an English-only model always decodes English") {
  const auto model = variant(make_english);
  CHECK_FALSE(model->info().multilingual);
  CHECK(model->info().languages == std::vector<std::string>{"en"});
  Slot slot(model, 1);
  const Window& window = test::window_of("seen1-en-06.flac");
  const WindowResult detected = slot.transcribe(window, in_language("auto"), nullptr);
  CHECK(detected.language == "en");
  REQUIRE(detected.language_probabilities.size() == 1);
  CHECK(detected.language_probabilities.front() == std::pair<std::string, float>("en", 1.0f));
  CHECK(detected.timings.encoder_passes >= 1);
  const WindowResult given = slot.transcribe(window, in_language("en"), nullptr);
  CHECK(test::tokens_of(given) == test::tokens_of(detected));
  CHECK_THROWS_AS(slot.transcribe(window, in_language("de"), nullptr), EngineError);
}

TEST_CASE("a model of two decoder layers detects the language into the prompt that whisper.cpp gives it") {
  const auto model = variant(make_two_layers);
  Slot slot(model, 1);
  for (const char* file : {"seen1-de-01.flac", "held1-fr-03.flac"}) {
    DecodeOptions options = in_language("auto");
    options.language_guess = "ja";
    const WindowResult detected = slot.transcribe(test::window_of(file), options, nullptr);
    const WindowResult given = slot.transcribe(test::window_of(file), in_language(detected.language), nullptr);
    CHECK(test::tokens_of(detected) == test::tokens_of(given));
    CHECK(detected.language != "ja");
    CHECK(valid_utf8(test::text_of(given)) == test::text_of(given));
  }
}

}  // namespace verbatim

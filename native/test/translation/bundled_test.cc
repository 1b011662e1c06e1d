#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/device_under_test.h"
#include "support/translation_backend.h"
#include "translation/backends/ggml/model.h"
#include "translation/files/json_file.h"

// A trained model. Its scores are farther apart than those of random weights, so every executor must give the same
// translation.
namespace {

using namespace verbatim::transformer;
using namespace verbatim::translation;

const std::vector<std::vector<std::string>> kSentences{
    {"en", "Good morning.", "I would like a cup of coffee, please.", "Where is the railway station?",
     "The weather is very nice today.", "My sister lives in a small house by the sea."},
    {"es", "Buenos días.", "Me gustaría un vaso de agua.", "¿Dónde está la estación?", "Hoy hace mucho frío.",
     "Mi hermano trabaja en un hospital."},
    {"de", "Guten Morgen.", "Ich hätte gern eine Tasse Tee.", "Wo ist der Bahnhof?", "Heute ist das Wetter sehr schön.",
     "Mein Bruder arbeitet in einer Schule."},
    {"fr", "Bonjour.", "Je voudrais un verre d'eau.", "Où est la gare ?", "Il fait très beau aujourd'hui.",
     "Ma sœur habite dans une petite maison."}};

std::filesystem::path bundled_model() {
  const auto models = std::filesystem::path(VERBATIM_SOURCE_DIR) / "models";
  const auto manifest = read_json(models / "manifest.json");
  for (const auto& model : manifest.at("models")) {
    if (model.at("kind") == "translation" && model.value("bundled", false))
      return models / model.at("directory").get<std::string>();
  }
  throw std::runtime_error("no bundled translation model in models/manifest.json");
}

std::vector<TranslationInput> inputs(const TranslationModel& model) {
  std::vector<TranslationInput> all;
  for (const auto& group : kSentences) {
    for (const auto& other : kSentences) {
      const std::string token = ">>" + other.front() + "<<";
      REQUIRE(model.has_source_token(token));
      for (std::size_t i = 1; i < group.size() && other.front() != group.front(); ++i) {
        TranslationInput input{model.tokenize(group[i]), {}};
        input.source.insert(input.source.begin(), token);
        all.push_back(std::move(input));
      }
    }
  }
  return all;
}

std::vector<std::string> texts(const TranslationModel& model) {
  TranslationOptions options;
  options.max_decoding_length = 100;
  const auto batch = model.create_translator(1)->translate(inputs(model), options, nullptr);
  std::vector<std::string> result;
  for (const auto& hypotheses : batch.results) result.push_back(model.detokenize(hypotheses.front().tokens));
  return result;
}

void check_alike(const char* name, const std::vector<std::string>& got, const std::vector<std::string>& expected) {
  REQUIRE(got.size() == expected.size());
  std::size_t equal = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    equal += got[i] == expected[i];
    if (got[i] != expected[i]) std::printf("  %s: \"%s\", ggml: \"%s\"\n", name, got[i].c_str(), expected[i].c_str());
  }
  std::printf("  %s: %zu of %zu translations equal to the ggml backend's\n", name, equal, got.size());
  CHECK(equal >= 0.9 * static_cast<double>(got.size()));
}

}  // namespace

TEST_CASE("the bundled model gives the same translation on every executor") {
  const auto directory = bundled_model();
  const auto expected = texts(*load_ggml_model(directory, {}));
  check_alike("float32", texts(*load_ggml_model(directory, {"cpu", "float32", "ggml"})), expected);
  const std::string device = verbatim::test::device_under_test();
  check_alike("the graphs for GPUs", texts(*load_ggml_model(directory, {.device = device}, GgmlExecutor::kGpuGraphs)),
              expected);
  const bool is_ggml = is_ggml_under_test();
  check_alike(is_ggml ? "ggml, again" : "CTranslate2", texts(*load_under_test(directory)), expected);
}

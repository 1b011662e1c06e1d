#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/reference_transformer.h"
#include "support/translation_backend.h"
#include "testing/temporary_directory.h"
#include "translation/backends/ggml/model.h"

// Features that CTranslate2's golden cases do not cover, against a plain implementation in double precision.
namespace {

using namespace verbatim::transformer;
using namespace verbatim::translation;

const std::vector<std::vector<int>> kSources{
    {7, 8, 9, 10, 11, 12, 13}, {20}, {30, 31, 32, 33}, {5, 5, 6, 40, 41, 9, 9, 9, 3, 4}};
constexpr int kSteps = 8;

struct Decoded {
  std::vector<std::string> tokens;
  double score = 0.0;
};

Decoded decode(ReferenceTransformer& reference, std::vector<int> source) {
  source.push_back(2);  // add_source_eos
  const auto encoded = reference.encode(source);
  std::vector<int> ids{1};
  Decoded decoded;
  for (int step = 0; step < kSteps; ++step) {
    auto logits = reference.logits(encoded, ids);
    logits[2] = std::numeric_limits<double>::lowest();  // min_decoding_length
    const auto best = std::ranges::max_element(logits);
    double total = 0.0;
    for (const double logit : logits) total += std::exp(logit - *best);
    decoded.score -= std::log(total);
    ids.push_back(static_cast<int>(best - logits.begin()));
    const int id = ids.back();
    decoded.tokens.push_back(id == 0 ? "<unk>" : id == 1 ? "<s>" : "t" + std::to_string(id));
  }
  decoded.score /= kSteps;
  return decoded;
}

// Loads a model on the executor under test.
using Load = std::shared_ptr<const TranslationModel> (*)(const std::filesystem::path&);

std::shared_ptr<const TranslationModel> load_tested(const std::filesystem::path& directory) {
  return load_under_test(directory);
}

std::shared_ptr<const TranslationModel> load_gpu_graphs(const std::filesystem::path& directory) {
  return load_ggml_model(directory, {}, GgmlExecutor::kGpuGraphs);
}

void check(RandomModel shape, Load load, double tolerance) {
  shape.spread = 1.5f;
  const verbatim::test::TemporaryDirectory directory;
  RandomModelWriter writer(shape);
  writer.write(directory.path());
  ReferenceTransformer reference(shape, writer.variables());
  std::vector<TranslationInput> inputs;
  for (const auto& source : kSources) {
    TranslationInput input;
    for (const int id : source) input.source.push_back("t" + std::to_string(id));
    inputs.push_back(std::move(input));
  }
  TranslationOptions options;
  options.beam_size = 1;
  options.min_decoding_length = options.max_decoding_length = kSteps;
  const auto model = load(directory.path());
  const auto batch = model->create_translator(2)->translate(inputs, options, nullptr);
  for (std::size_t i = 0; i < kSources.size(); ++i) {
    const Decoded expected = decode(reference, kSources[i]);
    CHECK(batch.results[i].front().tokens == expected.tokens);
    CHECK(std::abs(batch.results[i].front().score - expected.score) < tolerance);
  }
}

// ggml's GELU on the CPU uses a float16 table, so that activations 1 and 4 are less precise there.
void check_both(const RandomModel& shape, bool is_exact_on_device = true) {
  check(shape, load_tested, 2e-5);
  check(shape, load_gpu_graphs, is_exact_on_device ? 2e-5 : 2e-2);
}

}  // namespace

TEST_CASE("post-norm and pre-norm, stored positions") {
  check_both({});
  check_both({.pre_norm = true, .activation = 0, .zero_start = false});
}

TEST_CASE("every activation") {
  for (int activation = 0; activation <= 6; ++activation) {
    CAPTURE(activation);
    check_both({.activation = activation}, activation != 1 && activation != 4);
  }
}

TEST_CASE("generated positions") { check_both({.zero_start = false, .positions = 0}); }

TEST_CASE("OpenNMT-py's relative positions") {
  check_both({.pre_norm = true, .zero_start = false, .positions = 0, .relative = 2, .scale_embeddings = 0});
  check_both({.pre_norm = true, .positions = 0, .relative = 20});
}

TEST_CASE("gated feed-forward, embedding norm, root mean square norm, scaled outputs, tied projection") {
  check_both({.gated = true});
  check_both({.embeddings_norm = true});
  check_both({.pre_norm = true, .rms_norm = true});
  check_both({.scale_outputs = 0.5f});
  check_both({.tied = true});
}

TEST_CASE("sizes that are no multiple of a vector or a panel") {
  check_both({.width = 12, .heads = 3, .inner = 20, .vocabulary = 61});
  check_both({.width = 36, .heads = 2, .inner = 50, .vocabulary = 97});
}

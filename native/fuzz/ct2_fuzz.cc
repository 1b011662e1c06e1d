// libFuzzer target: any bytes for the reader of CTranslate2 models. The first byte selects model.bin, config.json or a
// vocabulary. The reader may throw nothing but EngineError, and every accepted weight must be readable.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "error.h"
#include "testing/random_ct2_model.h"
#include "transformer/linears.h"
#include "translation/ct2/config.h"
#include "translation/ct2/file.h"
#include "translation/ct2/transformer.h"
#include "translation/ct2/vocabulary.h"

namespace {

using namespace verbatim::transformer;
using namespace verbatim::translation;

enum Kind : std::uint8_t { kModel, kConfig, kVocabulary, kKinds };

// Reads every row of a matrix; the sum keeps the compiler from dropping the reads.
float read_all(const MatrixView& matrix) {
  std::vector<float> row(matrix.columns);
  float sum = 0.0f;
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    matrix.read_row(i, row);
    sum += row.empty() ? 0.0f : row.back();
  }
  return sum;
}

void run_model(std::span<const std::byte> bytes) {
  const Ct2File file = Ct2File::parse(bytes);
  const Transformer model = read_transformer(file, Ct2Config{});
  volatile float sum = 0.0f;
  for (const Linear* linear : linears(model)) sum = sum + read_all(linear->weight);
  for (const TransformerStack* stack : {&model.encoder, &model.decoder}) {
    sum = sum + read_all(stack->embeddings) + read_all(stack->positions);
    for (const TransformerLayer& layer : stack->layers) {
      sum = sum + read_all(layer.self_attention.relative_keys) + read_all(layer.self_attention.relative_values);
    }
  }
}

Vocabulary parse_vocabulary(std::string_view text) {
  return Vocabulary(text.starts_with('[') ? parse_json_tokens(text, "vocabulary.json") : parse_text_tokens(text),
                    "<unk>");
}

// Seeds that reach the deep branches; random bytes never would.
std::string seed(unsigned number) {
  RandomModel shape;
  shape.encoder_layers = shape.decoder_layers = 1;
  shape.width = 4;
  shape.heads = 2;
  shape.inner = 4;
  shape.vocabulary = 5;
  shape.positions = number % 2 == 0 ? 3 : 0;
  shape.relative = number % 3 == 0 ? 1 : 0;
  shape.gated = number % 5 == 0;
  shape.embeddings_norm = number % 7 == 0;
  shape.tied = number % 2 == 1;
  shape.type = static_cast<ElementType>(number % 6 == 3 ? 0 : number % 6);
  const unsigned version = 1 + number % 6;
  if (version < 3) shape.tied = false;
  if (version < 4 && element_size(shape.type) == 2) shape.type = ElementType::kInt16;
  return RandomModelWriter(shape).variables().bytes(version, version < 2 ? "" : "TransformerSpec", 7);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// One input in 64 starts again from a new valid model.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned random) {
  if (random % 64 == 0) {
    const std::string fresh = seed(random / 64 % 420);
    if (fresh.size() + 1 <= max_size) {
      data[0] = kModel;
      fresh.copy(reinterpret_cast<char*>(data + 1), fresh.size());
      size = fresh.size() + 1;
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    switch (data[0] % kKinds) {
      case kModel:
        run_model(std::as_bytes(std::span(data + 1, size - 1)));
        break;
      case kConfig:
        Ct2Config::parse(text, Ct2Config{}, true);
        break;
      default:
        if (parse_vocabulary(text).id("<unk>") < 0) std::abort();
    }
  } catch (const verbatim::EngineError&) {
    return 0;
  }
  return 0;
}

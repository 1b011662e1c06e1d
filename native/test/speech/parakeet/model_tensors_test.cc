#include "speech/parakeet/model_tensors.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "testing/random_parakeet_model.h"

namespace verbatim::parakeet {
namespace {

std::uint64_t tensor_bytes(const ModelShape& shape) {
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : expected_tensors(shape)) bytes += tensor.bytes();
  return bytes;
}

// Given the sizes of published files of a shape by type of weights: the bytes that belong to no tensor. They are the
// same in all files: header, filters, window, vocabulary, names.
std::uint64_t rest(const std::string& shape, const std::vector<std::pair<std::string, std::uint64_t>>& published) {
  const auto of = [&](const auto& file) { return file.second - tensor_bytes(test::parakeet_shape(shape, file.first)); };
  const std::uint64_t first = of(published.front());
  for (const auto& file : published) {
    CAPTURE(file.first);
    CHECK(of(file) == first);
  }
  return first;
}

}  // namespace

TEST_CASE("the published Parakeet files have exactly the expected tensors, to the byte") {
  // Sources: huggingface.co/ggml-org/parakeet-GGUF; q5_0 from JoaoZaokk/parakeet-tdt-0.6b-v3-ggml.
  const std::uint64_t three =
      rest("parakeet-0.6b",
           {{"f16", 1255897319}, {"q8_0", 668757119}, {"q5_0", 433901039}, {"q4_k", 415611879}, {"q4_0", 355615679}});
  // Source: huggingface.co/JoaoZaokk/parakeet-tdt-0.6b-v2-ggml.
  const std::uint64_t two = rest("parakeet-0.6b-v2", {{"q8_0", 658909748}, {"q5_0", 427494308}});
  // 7168 more pieces, each with its length and one letter or more.
  CHECK(three > two + 7168 * 5);
  CHECK(three < two + 7168 * 16);
}

}  // namespace verbatim::parakeet

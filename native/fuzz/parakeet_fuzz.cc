// libFuzzer target: any bytes as a Parakeet model. In an accepted file all tensors lie within the file, and every
// output has a duration above 0.
#include <array>
#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "fuzz/ggml_input.h"
#include "speech/model_stream.h"
#include "speech/parakeet/model_file.h"

namespace {

using namespace verbatim;
using fuzz::integers;
using fuzz::put_bytes;
using fuzz::put_repeated;
using fuzz::put_tensor;
using fuzz::require;

void run_parakeet(fuzz::Pieces& file) {
  std::istream stream(&file);
  if (!parakeet::is_parakeet_file(stream)) return;
  const parakeet::ModelFileInfo info = parakeet::check_model_file(stream);
  require(info.weight_bytes <= file.size(), "tensors lie in the file");
  require(info.durations.size() == static_cast<std::size_t>(info.shape.durations), "a duration for every output");
  for (const std::int32_t positions : info.durations) {
    require(positions >= 0 && positions <= 100, "durations lead forwards, and no further than a window");
  }
}

std::string parakeet_seed(unsigned number) {
  static constexpr std::array<std::int32_t, 4> kTypes = {1, 0, 7, 2};
  const parakeet::ModelShape shape{.vocabulary = 40,
                                   .audio_context = 3000,
                                   .state = 64,
                                   .heads = 2,
                                   .layers = 1 + static_cast<std::int32_t>(number % 2),
                                   .mels = 16,
                                   .file_type = kTypes[number % kTypes.size()],
                                   .fft = 512,
                                   .subsampling = 8,
                                   .subsampling_channels = 32,
                                   .kernel = 9,
                                   .prediction_state = 64,
                                   .prediction_layers = 1 + static_cast<std::int32_t>(number / 2 % 2),
                                   .durations = 5,
                                   .most_tokens = 10};
  std::string pieces;
  const std::int32_t version = shape.file_type > 1 ? 2000 : 0;
  put_bytes(pieces, integers({static_cast<std::int32_t>(ModelStream::kMagic), shape.vocabulary, shape.audio_context,
                              shape.state, shape.heads, shape.layers, shape.mels, shape.file_type + version, shape.fft,
                              shape.subsampling, shape.subsampling_channels, shape.kernel, shape.prediction_state,
                              shape.prediction_layers, shape.durations, shape.most_tokens}));
  const std::int32_t bins = shape.fft / 2 + 1;
  put_bytes(pieces, integers({shape.mels, bins}));
  put_repeated(pieces, std::string(4, '\0'), static_cast<std::uint32_t>(shape.mels * bins));
  put_bytes(pieces, integers({400}));
  put_repeated(pieces, std::string(4, '\0'), 400);
  put_bytes(pieces, integers({0, 1, 2, 3, 4, shape.vocabulary}));
  put_repeated(pieces, integers({1}) + "a", static_cast<std::uint32_t>(shape.vocabulary));
  const auto tensors = parakeet::expected_tensors(shape);
  for (const auto& [name, tensor] : std::map(tensors.begin(), tensors.end())) put_tensor(pieces, name, tensor);
  return pieces;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned random) {
  return fuzz::mutate(data, size, most, random, parakeet_seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run(data, size, run_parakeet);
  return 0;
}

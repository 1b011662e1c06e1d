// libFuzzer target: any bytes as a Silero model.
#include <cstdint>
#include <istream>
#include <string>

#include "fuzz/ggml_input.h"
#include "speech/model_stream.h"
#include "speech/silero/model_file.h"

namespace {

using namespace verbatim;
using fuzz::integers;
using fuzz::put_bytes;
using fuzz::put_repeated;
using fuzz::put_tensor;

void run_silero(fuzz::Pieces& file) {
  std::istream stream(&file);
  if (!silero::is_silero_file(stream)) return;
  silero::check_model_file(stream);
}

std::string silero_seed(unsigned) {
  const std::string type = "silero-16k";
  std::string pieces;
  put_bytes(pieces,
            integers({static_cast<std::int32_t>(ModelStream::kMagic), static_cast<std::int32_t>(type.size())}) + type +
                integers({6, 2, 0, 512, 64, 4, 129, 128, 3, 128, 64, 3, 64, 64, 3, 64, 128, 3, 128, 128, 128, 1}));
  for (const auto& [name, tensor] : silero::expected_tensors()) put_tensor(pieces, name, tensor);
  return pieces;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned random) {
  return fuzz::mutate(data, size, most, random, silero_seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run(data, size, run_silero);
  return 0;
}

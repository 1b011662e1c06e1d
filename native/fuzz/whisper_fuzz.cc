// libFuzzer target: any bytes as a Whisper model. In an accepted file all tensors lie within the file, every token can
// be found, and the text of all tokens can be tokenized.
#include <algorithm>
#include <array>
#include <cstdint>
#include <istream>
#include <map>
#include <span>
#include <string>

#include "fuzz/ggml_input.h"
#include "speech/model_file.h"
#include "speech/model_stream.h"
#include "speech/whisper/model/vocabulary.h"

namespace {

using namespace verbatim;
using fuzz::integers;
using fuzz::put_bytes;
using fuzz::put_repeated;
using fuzz::put_tensor;
using fuzz::require;

constexpr std::size_t kMostText = 4096;
// A vocabulary of fifty thousand tokens would take all but a hundredth of a run's time.
constexpr std::int32_t kFewTokens = 3;
// One accepted file in so many has the names of all its fifty thousand tokens checked.
constexpr std::size_t kNamed = 32;

void run_whisper(fuzz::Pieces& file) {
  std::istream stream(&file);
  const ModelFileInfo info = check_model_file(stream, Float32Files::kAccepted, kFewTokens);
  // Tensors follow the vocabulary.
  std::size_t end = file.size();
  for (const auto& [name, tensor] : info.tensors) {
    require(tensor.offset + tensor.shape.bytes() <= file.size(), "a tensor lies in the file");
    end = std::min(end, static_cast<std::size_t>(tensor.offset));
  }
  if ((end - info.vocabulary_offset) % kNamed != 0) return;
  const std::string list = file.bytes(info.vocabulary_offset, end - info.vocabulary_offset);
  const whisper::Vocabulary vocabulary(std::as_bytes(std::span(list)), info.shape.vocabulary);
  std::string text;
  for (int id = 0; id < info.shape.vocabulary && text.size() < kMostText; ++id) text += vocabulary.text(id);
  for (const int id : vocabulary.tokenize(text)) {
    require(id >= 0 && id < info.shape.vocabulary, "a token is one of the vocabulary");
  }
}

std::string whisper_seed(unsigned number) {
  static constexpr std::array<std::int32_t, 6> kTypes = {1, 0, 2, 7, 9, 14};
  ModelShape shape{.vocabulary = 51864 + static_cast<std::int32_t>(number % 3),
                   .audio_context = 1500,
                   .audio_state = 64,
                   .audio_heads = 4,
                   .audio_layers = 1,
                   .text_context = 448,
                   .text_state = 64,
                   .text_heads = 4,
                   .text_layers = 1,
                   .mels = number % 2 == 0 ? 80 : 128,
                   .file_type = kTypes[number % kTypes.size()]};
  // A block of this type has 256 values.
  if (shape.file_type == 14) shape.audio_state = shape.text_state = 256;
  std::string pieces;
  const std::int32_t version = shape.file_type > 1 ? 2000 : 0;
  put_bytes(pieces,
            integers({static_cast<std::int32_t>(ModelStream::kMagic), shape.vocabulary, shape.audio_context,
                      shape.audio_state, shape.audio_heads, shape.audio_layers, shape.text_context, shape.text_state,
                      shape.text_heads, shape.text_layers, shape.mels, shape.file_type + version, shape.mels, 201}));
  put_repeated(pieces, std::string(4, '\0'), static_cast<std::uint32_t>(shape.mels * 201));
  const std::uint32_t tokens = 2 + number / 6 % kNamed;
  put_bytes(pieces, integers({static_cast<std::int32_t>(tokens) + 1, 1}) + " ");
  put_repeated(pieces, integers({1}) + "a", tokens);
  const auto tensors = expected_tensors(shape);
  for (const auto& [name, tensor] : std::map(tensors.begin(), tensors.end())) put_tensor(pieces, name, tensor);
  return pieces;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned random) {
  return fuzz::mutate(data, size, most, random, whisper_seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run(data, size, run_whisper);
  return 0;
}

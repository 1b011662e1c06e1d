// Feeds hostile bytes to the readers of ggml files: the first byte says whether the rest, written short
// (pieces.h), is a Whisper, a Silero or a Parakeet model. Nothing but an EngineError may come out; of what is
// accepted every tensor lies in the file, and every token can be found and the text of all tokens cut into
// tokens.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <istream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "error.h"
#include "fuzz/pieces.h"
#include "speech/model_file.h"
#include "speech/model_stream.h"
#include "speech/parakeet/model_file.h"
#include "speech/silero/model_file.h"
#include "speech/whisper/vocabulary.h"

namespace {

using namespace verbatim;
using fuzz::put_bytes;
using fuzz::put_repeated;

enum Kind : std::uint8_t { kWhisper, kSilero, kParakeet, kKinds };

// More than the largest seed has.
constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::size_t kMostText = 4096;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

void run_whisper(fuzz::Pieces& file) {
  std::istream stream(&file);
  const ModelFileInfo info = check_model_file(stream, Float32Files::kAccepted);
  // Tensors follow the vocabulary.
  std::size_t end = file.size();
  for (const auto& [name, tensor] : info.tensors) {
    require(tensor.offset + tensor.shape.bytes() <= file.size(), "a tensor lies in the file");
    end = std::min(end, static_cast<std::size_t>(tensor.offset));
  }
  const std::string list = file.bytes(info.vocabulary_offset, end - info.vocabulary_offset);
  const whisper::Vocabulary vocabulary(std::as_bytes(std::span(list)), info.shape.vocabulary);
  std::string text;
  for (int id = 0; id < info.shape.vocabulary && text.size() < kMostText; ++id) text += vocabulary.text(id);
  for (const int id : vocabulary.tokenize(text)) {
    require(id >= 0 && id < info.shape.vocabulary, "a token is one of the vocabulary");
  }
}

void run_silero(fuzz::Pieces& file) {
  std::istream stream(&file);
  if (!silero::is_silero_file(stream)) return;
  silero::check_model_file(stream);
}

void run_parakeet(fuzz::Pieces& file) {
  std::istream stream(&file);
  if (!parakeet::is_parakeet_file(stream)) return;
  const parakeet::ModelFileInfo info = parakeet::check_model_file(stream);
  require(info.weight_bytes <= file.size(), "tensors lie in the file");
  require(info.durations.size() == static_cast<std::size_t>(info.shape.durations),
          "a duration for every output");
  for (const std::int32_t positions : info.durations) {
    require(positions >= 0 && positions <= 100, "durations lead forwards, and no further than a window");
  }
}

std::string integers(const std::vector<std::int32_t>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int32_t)};
}

void put_tensor(std::string& pieces, const std::string& name, const TensorShape& tensor) {
  std::int32_t rank = 4;
  while (rank > 1 && tensor.dimensions[static_cast<std::size_t>(rank - 1)] == 1) --rank;
  std::vector<std::int32_t> header = {rank, static_cast<std::int32_t>(name.size()),
                                      static_cast<std::int32_t>(tensor.type)};
  for (std::int32_t i = 0; i < rank; ++i) {
    header.push_back(static_cast<std::int32_t>(tensor.dimensions[static_cast<std::size_t>(i)]));
  }
  put_bytes(pieces, integers(header) + name);
  put_repeated(pieces, std::string(1, '\0'), static_cast<std::uint32_t>(tensor.bytes()));
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
  // A block of this type is of 256 values.
  if (shape.file_type == 14) shape.audio_state = shape.text_state = 256;
  std::string pieces;
  const std::int32_t version = shape.file_type > 1 ? 2000 : 0;
  put_bytes(pieces, integers({static_cast<std::int32_t>(ModelStream::kMagic), shape.vocabulary,
                              shape.audio_context, shape.audio_state, shape.audio_heads, shape.audio_layers,
                              shape.text_context, shape.text_state, shape.text_heads, shape.text_layers,
                              shape.mels, shape.file_type + version, shape.mels, 201}));
  put_repeated(pieces, std::string(4, '\0'), static_cast<std::uint32_t>(shape.mels * 201));
  put_bytes(pieces, integers({50257, 1}) + " ");
  put_repeated(pieces, integers({1}) + "a", 50256);
  const auto tensors = expected_tensors(shape);
  for (const auto& [name, tensor] : std::map(tensors.begin(), tensors.end()))
    put_tensor(pieces, name, tensor);
  return pieces;
}

std::string silero_seed() {
  const std::string type = "silero-16k";
  std::string pieces;
  put_bytes(
      pieces,
      integers({static_cast<std::int32_t>(ModelStream::kMagic), static_cast<std::int32_t>(type.size())}) +
          type +
          integers({6, 2, 0, 512, 64, 4, 129, 128, 3, 128, 64, 3, 64, 64, 3, 64, 128, 3, 128, 128, 128, 1}));
  for (const auto& [name, tensor] : silero::expected_tensors()) put_tensor(pieces, name, tensor);
  return pieces;
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
  put_bytes(pieces,
            integers({static_cast<std::int32_t>(ModelStream::kMagic), shape.vocabulary, shape.audio_context,
                      shape.state, shape.heads, shape.layers, shape.mels, shape.file_type + version,
                      shape.fft, shape.subsampling, shape.subsampling_channels, shape.kernel,
                      shape.prediction_state, shape.prediction_layers, shape.durations, shape.most_tokens}));
  const std::int32_t bins = shape.fft / 2 + 1;
  put_bytes(pieces, integers({shape.mels, bins}));
  put_repeated(pieces, std::string(4, '\0'), static_cast<std::uint32_t>(shape.mels * bins));
  put_bytes(pieces, integers({400}));
  put_repeated(pieces, std::string(4, '\0'), 400);
  put_bytes(pieces, integers({0, 1, 2, 3, 4, shape.vocabulary}));
  put_repeated(pieces, integers({1}) + "a", static_cast<std::uint32_t>(shape.vocabulary));
  const auto tensors = parakeet::expected_tensors(shape);
  for (const auto& [name, tensor] : std::map(tensors.begin(), tensors.end()))
    put_tensor(pieces, name, tensor);
  return pieces;
}

std::string seed_of(Kind kind, unsigned number) {
  if (kind == kParakeet) return parakeet_seed(number);
  return kind == kWhisper ? whisper_seed(number) : silero_seed();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// One input in 64 starts over from a fresh valid model.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned random) {
  if (random % 64 == 0) {
    const unsigned number = random / 64 % 18;
    const auto kind = static_cast<Kind>(number / 6);
    const std::string fresh = seed_of(kind, number % 6);
    if (fresh.size() + 1 <= max_size) {
      data[0] = kind;
      fresh.copy(reinterpret_cast<char*>(data + 1), fresh.size());
      size = fresh.size() + 1;
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  fuzz::Pieces file(std::string_view(reinterpret_cast<const char*>(data + 1), size - 1), kMostBytes);
  try {
    switch (data[0] % kKinds) {
      case kWhisper:
        run_whisper(file);
        break;
      case kSilero:
        run_silero(file);
        break;
      default:
        run_parakeet(file);
    }
  } catch (const EngineError& error) {
    require(error.code() == ErrorCode::kInvalidModel, error.what());
  }
  return 0;
}

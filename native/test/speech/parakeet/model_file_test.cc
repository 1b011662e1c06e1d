#include "speech/parakeet/model_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "error.h"
#include "speech/load_slot_model.h"
#include "speech/parakeet/small_model.h"
#include "speech/support.h"
#include "support/message_of_error.h"

namespace verbatim::parakeet {
namespace {

// Indices of the header's fields; the magic number has index 0.
enum Field : std::size_t {
  kVocabulary = 1,
  kAudioContext,
  kState,
  kHeads,
  kLayers,
  kMels,
  kFileType,
  kFft,
  kSubsampling,
  kChannels,
  kKernel,
  kPredictionState,
  kPredictionLayers,
  kDurations,
  kMostTokens,
  kFilterBands,
  kFilterBins,
};

const std::string& small_file() {
  static const std::string bytes = test::file_text(test::SmallParakeet().path());
  return bytes;
}

template <typename T>
std::string with(std::string bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
  return bytes;
}

std::string with_field(Field field, std::int32_t value) { return with(small_file(), 4 * field, value); }

std::string refusal(const std::string& bytes) {
  std::istringstream stream(bytes);
  return test::message_of_error(ErrorCode::kInvalidModel, [&] { check_model_file(stream); });
}

bool is_parakeet(const std::string& bytes) {
  std::istringstream stream(bytes);
  return is_parakeet_file(stream);
}

// Offset behind the filters.
std::size_t window_at() {
  const ModelShape shape = test::small_parakeet_shape();
  return 4 * 18 + sizeof(float) * static_cast<std::size_t>(shape.mels) * static_cast<std::size_t>(shape.fft / 2 + 1);
}
std::size_t durations_at() { return window_at() + 4 + 4 * 400; }
std::size_t vocabulary_at() { return durations_at() + 4 * 5; }
// Offset of a tensor's header: its number of dimensions, length of its name and type precede its dimensions.
std::size_t header_at(const std::string& name, std::size_t rank) { return small_file().find(name) - 4 * (3 + rank); }

}  // namespace

TEST_CASE("a Parakeet file is read: shape, durations, bytes of weights") {
  std::istringstream stream(small_file());
  const ModelFileInfo info = check_model_file(stream);
  const ModelShape expected = test::small_parakeet_shape();
  CHECK(info.shape.vocabulary == expected.vocabulary);
  CHECK(info.shape.state == expected.state);
  CHECK(info.shape.most_tokens == expected.most_tokens);
  CHECK(info.durations == std::vector<std::int32_t>{0, 1, 2, 3, 4});
  CHECK(info.weight_bytes > 200000);
  CHECK(info.weight_bytes < small_file().size());
}

TEST_CASE("files of every type of weights are accepted, and whisper.cpp loads and runs them") {
  for (const char* weights : {"f32", "f16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_K", "q6_K"}) {
    CAPTURE(std::string(weights));
    std::string spelt = weights;
    std::ranges::transform(spelt, spelt.begin(), [](char c) { return c == 'K' ? 'k' : c; });
    ModelShape shape = test::small_parakeet_shape(spelt);
    shape.state = 256;
    shape.mels = 128;
    const test::SmallParakeet file(shape);
    const auto model = load_slot_model(file.path(), "cpu");
    CHECK(model->info().weight_type == weights);
    DecodeOptions options;
    options.language = "en";
    const WindowResult result = model->make_slot(1)->transcribe(test::silence(1), options, nullptr);
    CHECK(result.timings.encoder_passes == 1);
  }
}

TEST_CASE("a Parakeet file is distinguished from others, even with a wrong field") {
  CHECK(is_parakeet(small_file()));
  CHECK(is_parakeet(with_field(kSubsampling, 4)));
  CHECK(is_parakeet(with_field(kMels, 24)));
  CHECK(is_parakeet(with(small_file(), 0, 0)));
  CHECK_FALSE(is_parakeet(test::file_text(test::bundled_model_path())));
  CHECK_FALSE(is_parakeet(""));
  CHECK_FALSE(is_parakeet(std::string(4096, '\0')));
  CHECK_FALSE(is_parakeet(small_file().substr(0, 40)));
}

TEST_CASE("a header out of range is refused with what is allowed") {
  struct Case {
    Field field;
    std::int32_t value;
    const char* message;
  };
  const Case cases[] = {
      {kVocabulary, 0, "the header's vocabulary size is 0, allowed: 1 to 32768"},
      {kVocabulary, 40000, "the header's vocabulary size is 40000, allowed: 1 to 32768"},
      {kAudioContext, 99, "the header's audio context is 99, allowed: 100 to 6000"},
      {kAudioContext, 6001, "the header's audio context is 6001, allowed: 100 to 6000"},
      {kState, 60, "the header's audio state size is 60, allowed: multiples of 8 up to 4096"},
      {kState, -8, "the header's audio state size is -8, allowed: multiples of 8 up to 4096"},
      {kHeads, 0, "the header's number of audio heads is 0, allowed: a divisor of the state size 64"},
      {kHeads, 3, "the header's number of audio heads is 3, allowed: a divisor of the state size 64"},
      {kLayers, 49, "the header's number of audio layers is 49, allowed: 1 to 48"},
      {kMels, 20, "the header's number of mel bands is 20, allowed: multiples of 8 up to 256"},
      {kFft, 500, "the header's length of the Fourier transform is 500, allowed: powers of two from 64 to 4096"},
      {kSubsampling, 4, "the header's subsampling factor is 4, allowed: 8"},
      {kChannels, 1025, "the header's number of subsampling channels is 1025, allowed: 1 to 1024"},
      {kKernel, 8, "the header's convolution kernel is 8, allowed: odd numbers from 3 to 63"},
      {kPredictionState, 0, "the header's prediction state size is 0, allowed: 1 to 2048"},
      // whisper.cpp has no room for a third layer and writes past the end.
      {kPredictionLayers, 3, "the header's number of prediction layers is 3, allowed: 1 to 2"},
      {kDurations, 17, "the header's number of durations is 17, allowed: 1 to 16"},
      // It would decode as many tokens at every position.
      {kMostTokens, 101, "the header's number of tokens a position is 101, allowed: 1 to 100"},
      {kFilterBands, 24, "the mel filters are 24 x 257, expected 32 x 257"},
      {kFilterBins, 256, "the mel filters are 32 x 256, expected 32 x 257"},
  };
  for (const Case& one : cases) CHECK(refusal(with_field(one.field, one.value)) == one.message);
  CHECK(refusal(with_field(kFileType, 15)).starts_with("the header's file type is 15, allowed: 0 (f32), 1 (f16)"));
  CHECK(refusal(with_field(kFileType, -1)).starts_with("the header's file type is -1"));
  // Blocks of 256 do not divide 64.
  CHECK(refusal(with_field(kFileType, 12)) ==
        "the header's audio state size is 64, allowed: a multiple of the 256 values in a block of type q4_K");
  CHECK(refusal(with(small_file(), 0, 0)) ==
        "not a ggml Parakeet model: the file does not start with the magic number \"lmgg\"");
}

TEST_CASE("wrong filters, windows, durations and vocabularies are refused") {
  CHECK(refusal(with(small_file(), 4 * 18, std::numeric_limits<float>::quiet_NaN())) ==
        "a mel filter has values that are no numbers or beyond 0 to 1000");
  CHECK(refusal(with(small_file(), 4 * 18, -0.5f)) ==
        "a mel filter has values that are no numbers or beyond 0 to 1000");
  CHECK(refusal(with(small_file(), window_at(), 513)) ==
        "the window function has 513 samples, allowed: 1 to the 512 of the Fourier transform");
  CHECK(refusal(with(small_file(), window_at() + 4, std::numeric_limits<float>::infinity())) ==
        "the window function has values that are no numbers or beyond -1000 to 1000");
  CHECK(refusal(with(small_file(), durations_at() + 4, -1)) == "a duration is -1 positions, allowed: 0 to 100");
  CHECK(refusal(with(small_file(), vocabulary_at(), 119)) ==
        "the vocabulary lists 119 tokens, expected the 120 of the header");
  CHECK(refusal(with(small_file(), vocabulary_at() + 4, 1025)) ==
        "token 0 of the vocabulary is 1025 bytes long, at most 1024 are allowed");
}

TEST_CASE("missing, unknown, duplicate and misshapen tensors are refused") {
  const std::string name = "encoder.layers.1.self_attn.linear_q.weight";
  const std::size_t header = header_at(name, 2);
  CHECK(refusal(with(small_file(), header + 12, 32)) ==
        "tensor " + name + " is [32, 64] of type f16, expected [64, 64] of type f16");
  CHECK(refusal(with(small_file(), header + 8, 0)) ==
        "tensor " + name + " is [64, 64] of type f32, expected [64, 64] of type f16");
  // A type with the same number of bytes per value.
  CHECK(refusal(with(small_file(), header + 8, 30)) ==
        "tensor " + name + " is [64, 64] of type bf16, expected [64, 64] of type f16");
  CHECK(refusal(with(small_file(), header + 8, 77)) == "tensor " + name + " has the unknown type 77");
  CHECK(refusal(with(small_file(), header, 5)) == "a tensor has 5 dimensions, allowed: 0 to 4");
  CHECK(refusal(with(small_file(), small_file().find(name), 'x')) ==
        "the file has a tensor x" + name.substr(1) + ", which this model does not have");
  const std::size_t end = small_file().find(name) + name.size() + 64 * 64 * 2;
  CHECK(refusal(small_file().substr(0, end) + small_file().substr(header)) ==
        "tensor " + name + " is in the file twice");
  CHECK(refusal(small_file().substr(0, header) + small_file().substr(end)) ==
        "the model file has 82 of 83 tensors; " + name + " is missing");
  CHECK(refusal(small_file().substr(0, small_file().size() - 1)).starts_with("the model file is truncated"));
  CHECK(refusal(small_file().substr(0, header_at("decoder.prediction.dec_rnn.lstm.bias_h_l0", 1))) ==
        "the model file has no tensors: it holds a vocabulary and no weights");
}

TEST_CASE("a refused Parakeet file is refused by its name, before whisper.cpp sees it") {
  const test::TemporaryFile file("lying.bin");
  file.write(with_field(kPredictionLayers, 3));
  CHECK(test::message_of_error(ErrorCode::kInvalidModel, [&] { load_slot_model(file.path(), "cpu"); }) ==
        file.path().filename().string() + ": the header's number of prediction layers is 3, allowed: 1 to 2");
}

}  // namespace verbatim::parakeet

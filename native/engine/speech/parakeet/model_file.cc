#include "speech/parakeet/model_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <istream>
#include <string>
#include <string_view>
#include <unordered_set>

#include "error.h"
#include "speech/model_stream.h"

namespace verbatim::parakeet {
namespace {

// Three convolutions with a stride of two.
constexpr std::int32_t kSubsampling = 8;
// Upper bound of filter and window values: keeps the features of any window finite.
constexpr float kLargestFilter = 1000.0f;
constexpr float kLargestWindow = 1000.0f;
constexpr std::uint32_t kMaxTokenBytes = 1024;
constexpr std::int32_t kLongestDuration = 100;
// whisper.cpp has room for nine tensors of the prediction network: the embedding, and three for each layer.
constexpr std::int32_t kMostPredictionLayers = 2;

void expect_range(std::string_view what, std::int32_t value, std::int32_t low, std::int32_t high) {
  expect_field(in_range(value, low, high), what, value, std::to_string(low) + " to " + std::to_string(high));
}

void check_encoder_shape(const ModelShape& shape) {
  // At most one minute of frames.
  expect_range("audio context", shape.audio_context, 100, 6000);
  expect_field(in_range(shape.state, 8, 4096) && shape.state % 8 == 0, "audio state size", shape.state,
               "multiples of 8 up to 4096");
  expect_field(shape.heads > 0 && shape.state % shape.heads == 0, "number of audio heads", shape.heads,
               "a divisor of the state size " + std::to_string(shape.state));
  expect_range("number of audio layers", shape.layers, 1, 48);
  expect_field(in_range(shape.mels, 8, 256) && shape.mels % 8 == 0, "number of mel bands", shape.mels,
               "multiples of 8 up to 256");
  expect_field(in_range(shape.fft, 64, 4096) && std::has_single_bit(static_cast<std::uint32_t>(shape.fft)),
               "length of the Fourier transform", shape.fft, "powers of two from 64 to 4096");
  expect_field(shape.subsampling == kSubsampling, "subsampling factor", shape.subsampling, "8");
  expect_range("number of subsampling channels", shape.subsampling_channels, 1, 1024);
  expect_field(in_range(shape.kernel, 3, 63) && shape.kernel % 2 == 1, "convolution kernel", shape.kernel,
               "odd numbers from 3 to 63");
}

void check_decoder_shape(const ModelShape& shape) {
  expect_range("vocabulary size", shape.vocabulary, 1, 32768);
  expect_range("prediction state size", shape.prediction_state, 1, 2048);
  expect_range("number of prediction layers", shape.prediction_layers, 1, kMostPredictionLayers);
  expect_range("number of durations", shape.durations, 1, 16);
  expect_range("number of tokens a position", shape.most_tokens, 1, 100);
}

void check_file_type(const ModelShape& shape) {
  const ggml_type type = weight_type(shape.file_type);
  expect_field(type != GGML_TYPE_COUNT, "file type", shape.file_type,
               "0 (f32), 1 (f16), 2 (q4_0), 3 (q4_1), 7 (q8_0), 8 (q5_0), 9 (q5_1) and 10 to 14 (q2_k to q6_k)");
  const auto block = ggml_blck_size(type);
  const std::string allowed =
      "a multiple of the " + std::to_string(block) + " values in a block of type " + ggml_type_name(type);
  expect_field(shape.state % block == 0, "audio state size", shape.state, allowed);
  expect_field(shape.features() % block == 0, "number of values before the first layer", shape.features(), allowed);
}

ModelShape read_shape(ModelStream& reader) {
  if (reader.left() < sizeof(ModelStream::kMagic) ||
      reader.value<std::uint32_t>("the magic number") != ModelStream::kMagic) {
    refuse_model("not a ggml Parakeet model: the file does not start with the magic number \"lmgg\"");
  }
  ModelShape shape;
  for (std::int32_t* field :
       {&shape.vocabulary, &shape.audio_context, &shape.state, &shape.heads, &shape.layers, &shape.mels,
        &shape.file_type, &shape.fft, &shape.subsampling, &shape.subsampling_channels, &shape.kernel,
        &shape.prediction_state, &shape.prediction_layers, &shape.durations, &shape.most_tokens}) {
    *field = reader.value<std::int32_t>("the header");
  }
  shape.file_type = without_quantization_version(shape.file_type);
  check_encoder_shape(shape);
  check_decoder_shape(shape);
  check_file_type(shape);
  return shape;
}

// Refuses values out of range; a NaN is in no range.
void check_values(const std::vector<float>& values, float low, float high, std::string_view what) {
  const auto sane = [=](float value) { return value >= low && value <= high; };
  if (std::ranges::all_of(values, sane)) return;
  refuse_model(std::string(what) + " has values that are no numbers or beyond " +
               std::to_string(static_cast<int>(low)) + " to " + std::to_string(static_cast<int>(high)));
}

std::vector<float> read_filters(ModelStream& reader, const ModelShape& shape) {
  const auto mels = reader.value<std::int32_t>("the mel filters");
  const auto bins = reader.value<std::int32_t>("the mel filters");
  const std::int32_t expected = shape.fft / 2 + 1;
  if (mels != shape.mels || bins != expected) {
    refuse_model("the mel filters are " + std::to_string(mels) + " x " + std::to_string(bins) + ", expected " +
                 std::to_string(shape.mels) + " x " + std::to_string(expected));
  }
  const auto count = static_cast<std::size_t>(mels) * static_cast<std::size_t>(bins);
  auto filters = reader.values<float>(count, "the mel filters");
  check_values(filters, 0.0f, kLargestFilter, "a mel filter");
  return filters;
}

std::vector<float> read_window(ModelStream& reader, const ModelShape& shape) {
  const auto size = reader.value<std::int32_t>("the window function");
  if (!in_range(size, 1, shape.fft)) {
    refuse_model("the window function has " + std::to_string(size) + " samples, allowed: 1 to the " +
                 std::to_string(shape.fft) + " of the Fourier transform");
  }
  auto window = reader.values<float>(static_cast<std::size_t>(size), "the window function");
  check_values(window, -kLargestWindow, kLargestWindow, "the window function");
  return window;
}

// A negative duration would move the decoder back for ever.
std::vector<std::int32_t> read_durations(ModelStream& reader, const ModelShape& shape) {
  auto durations = reader.values<std::int32_t>(static_cast<std::size_t>(shape.durations), "the durations");
  for (const std::int32_t duration : durations) {
    if (in_range(duration, 0, kLongestDuration)) continue;
    refuse_model("a duration is " + std::to_string(duration) + " positions, allowed: 0 to " +
                 std::to_string(kLongestDuration));
  }
  return durations;
}

// whisper.cpp takes the token behind the listed ones for the blank.
std::vector<std::string> read_pieces(ModelStream& reader, const ModelShape& shape) {
  const auto tokens = reader.value<std::int32_t>("the vocabulary");
  if (tokens != shape.vocabulary) {
    refuse_model("the vocabulary lists " + std::to_string(tokens) + " tokens, expected the " +
                 std::to_string(shape.vocabulary) + " of the header");
  }
  std::vector<std::string> pieces;
  for (std::int32_t i = 0; i < tokens; ++i) {
    const auto length = reader.value<std::uint32_t>("the vocabulary");
    if (length > kMaxTokenBytes) {
      refuse_model("token " + std::to_string(i) + " of the vocabulary is " + std::to_string(length) +
                   " bytes long, at most 1024 are allowed");
    }
    pieces.push_back(reader.text(length, "the vocabulary"));
  }
  return pieces;
}

bool is_as_expected(const TensorHeader& found, const TensorShape& expected) {
  const bool may_be_float = found.name.ends_with(kBatchCount) && found.shape.type == GGML_TYPE_F32;
  return found.shape.dimensions == expected.dimensions && (found.shape.type == expected.type || may_be_float);
}

void check_tensors(ModelStream& reader, ModelFileInfo& info) {
  auto missing = expected_tensors(info.shape);
  const std::size_t expected_count = missing.size();
  std::unordered_set<std::string> seen;
  while (reader.left() > 0) {
    const TensorHeader header = read_tensor_header(reader, 0);
    const std::string name = printable(header.name);
    if (seen.contains(header.name)) refuse_model("tensor " + name + " is in the file twice");
    const auto found = missing.find(header.name);
    if (found == missing.end()) {
      refuse_model("the file has a tensor " + name + ", which this model does not have");
    }
    const TensorShape expected = found->second;
    if (!is_as_expected(header, expected)) {
      refuse_model("tensor " + name + " is " + header.shape.describe() + ", expected " + expected.describe());
    }
    info.tensors.emplace(header.name, StoredTensor{expected, reader.offset()});
    reader.skip(expected.bytes(), "tensor " + name);
    info.weight_bytes += expected.bytes();
    seen.insert(header.name);
    missing.erase(found);
  }
  if (seen.empty()) refuse_model("the model file has no tensors: it holds a vocabulary and no weights");
  if (!missing.empty()) {
    const auto by_name = [](const auto& a, const auto& b) { return a.first < b.first; };
    refuse_model("the model file has " + std::to_string(seen.size()) + " of " + std::to_string(expected_count) +
                 " tensors; " + std::ranges::min_element(missing, by_name)->first + " is missing");
  }
}

}  // namespace

bool is_parakeet_file(std::istream& stream) {
  // The header, then the filters' numbers of bands and frequencies.
  std::array<std::int32_t, 18> head{};
  stream.clear();
  stream.seekg(0, std::ios::beg);
  stream.read(reinterpret_cast<char*>(head.data()), sizeof(head));
  if (!stream) return false;
  const bool subsamples = head[9] == kSubsampling;
  const bool has_bands = head[6] > 0 && head[16] == head[6];
  const bool has_frequencies = head[8] > 0 && head[17] == head[8] / 2 + 1;
  return subsamples + has_bands + has_frequencies >= 2;
}

ModelFileInfo check_model_file(std::istream& stream) {
  ModelStream reader(stream);
  ModelFileInfo info;
  info.shape = read_shape(reader);
  info.mel_filters = read_filters(reader, info.shape);
  info.window = read_window(reader, info.shape);
  info.durations = read_durations(reader, info.shape);
  info.pieces = read_pieces(reader, info.shape);
  check_tensors(reader, info);
  return info;
}

}  // namespace verbatim::parakeet

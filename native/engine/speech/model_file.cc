#include "speech/model_file.h"

#include <algorithm>
#include <cmath>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "error.h"
#include "speech/model_stream.h"

namespace verbatim {
namespace {

constexpr int kFftBins = 201;
// Upper bound of filter values: keeps the features of any window finite.
constexpr float kLargestFilter = 1000.0f;
constexpr std::int32_t kMaxLayers = 48;
constexpr std::int32_t kMaxState = 2048;
constexpr std::uint32_t kMaxTokenBytes = 1024;

void check_heads(std::string_view what, std::int32_t heads, std::int32_t state) {
  const bool good = heads > 0 && state % heads == 0 && in_range(state / heads, 16, 256) && state / heads % 16 == 0;
  expect_field(good, what, heads,
               "a divisor of the state size " + std::to_string(state) +
                   " that leaves 16 to 256 values a head, a multiple of 16");
}

void check_file_type(const ModelShape& shape, Float32Files float32) {
  constexpr const char* kOthers =
      "1 (f16), 2 (q4_0), 3 (q4_1), 7 (q8_0), 8 (q5_0), 9 (q5_1) and 10 to 14 (q2_k to q6_k)";
  const ggml_type type = weight_type(shape.file_type);
  if (float32 == Float32Files::kAccepted) {
    expect_field(type != GGML_TYPE_COUNT, "file type", shape.file_type, std::string("0 (f32), ") + kOthers);
  } else {
    expect_field(type != GGML_TYPE_COUNT && type != GGML_TYPE_F32, "file type", shape.file_type,
                 std::string(kOthers) + "; whisper.cpp loads 0 (f32), but its convolutions end the process");
  }
  expect_field(shape.audio_state % ggml_blck_size(type) == 0, "state size", shape.audio_state,
               "a multiple of the " + std::to_string(ggml_blck_size(type)) + " values in a block of type " +
                   ggml_type_name(type));
}

void check_shape(const ModelShape& shape) {
  expect_field(in_range(shape.vocabulary, 51864, 51866), "vocabulary size", shape.vocabulary, "51864, 51865 and 51866");
  expect_field(shape.audio_context == 1500, "audio context", shape.audio_context, "1500");
  expect_field(shape.text_context == 448, "text context", shape.text_context, "448");
  expect_field(in_range(shape.audio_state, 64, kMaxState) && shape.audio_state % 64 == 0, "audio state size",
               shape.audio_state, "multiples of 64 up to 2048");
  expect_field(shape.text_state == shape.audio_state, "text state size", shape.text_state,
               "the audio state size, " + std::to_string(shape.audio_state));
  check_heads("number of audio heads", shape.audio_heads, shape.audio_state);
  check_heads("number of text heads", shape.text_heads, shape.text_state);
  expect_field(in_range(shape.audio_layers, 1, kMaxLayers), "number of audio layers", shape.audio_layers, "1 to 48");
  expect_field(in_range(shape.text_layers, 1, kMaxLayers), "number of text layers", shape.text_layers, "1 to 48");
  expect_field(shape.mels == 80 || shape.mels == 128, "number of mel bands", shape.mels, "80 and 128");
}

ModelShape read_shape(ModelStream& reader, Float32Files float32) {
  if (reader.left() < sizeof(ModelStream::kMagic) ||
      reader.value<std::uint32_t>("the magic number") != ModelStream::kMagic) {
    refuse_model("not a ggml Whisper model: the file does not start with the magic number \"lmgg\"");
  }
  ModelShape shape;
  for (std::int32_t* field :
       {&shape.vocabulary, &shape.audio_context, &shape.audio_state, &shape.audio_heads, &shape.audio_layers,
        &shape.text_context, &shape.text_state, &shape.text_heads, &shape.text_layers, &shape.mels, &shape.file_type}) {
    *field = reader.value<std::int32_t>("the header");
  }
  shape.file_type = without_quantization_version(shape.file_type);
  check_shape(shape);
  check_file_type(shape, float32);
  return shape;
}

std::vector<float> read_mel_filters(ModelStream& reader, const ModelShape& shape) {
  const auto mels = reader.value<std::int32_t>("the mel filters");
  const auto bins = reader.value<std::int32_t>("the mel filters");
  if (mels != shape.mels || bins != kFftBins) {
    refuse_model("the mel filters are " + std::to_string(mels) + " x " + std::to_string(bins) + ", expected " +
                 std::to_string(shape.mels) + " x " + std::to_string(kFftBins));
  }
  const auto filters = reader.values<float>(static_cast<std::size_t>(mels) * kFftBins, "the mel filters");
  const auto sane = [](float weight) { return std::abs(weight) <= kLargestFilter; };
  if (!std::all_of(filters.begin(), filters.end(), sane)) {
    refuse_model("the mel filters have values that are no numbers or beyond 1000; a filter's are within 0 to 1");
  }
  return filters;
}

// whisper.cpp itself numbers the tokens behind the text tokens, and looks up the token of a single space by its text.
void check_vocabulary(ModelStream& reader, const ModelShape& shape, std::int32_t least_tokens) {
  const auto tokens = reader.value<std::int32_t>("the vocabulary");
  if (!in_range(tokens, least_tokens, shape.vocabulary)) {
    refuse_model("the vocabulary lists " + std::to_string(tokens) + " tokens, expected " +
                 std::to_string(least_tokens) + " to " + std::to_string(shape.vocabulary));
  }
  bool has_space = false;
  for (std::int32_t i = 0; i < tokens; ++i) {
    const auto length = reader.value<std::uint32_t>("the vocabulary");
    if (length > kMaxTokenBytes) {
      refuse_model("token " + std::to_string(i) + " of the vocabulary is " + std::to_string(length) +
                   " bytes long, at most 1024 are allowed");
    }
    has_space |= reader.text(length, "the vocabulary") == " ";
  }
  if (!has_space) refuse_model("the vocabulary lacks the token \" \"");
}

void check_tensors(ModelStream& reader, ModelFileInfo& info) {
  auto missing = expected_tensors(info.shape);
  const std::size_t expected_count = missing.size();
  auto& seen = info.tensors;
  while (reader.left() > 0) {
    const TensorHeader header = read_tensor_header(reader, 1);
    const std::string name = printable(header.name);
    if (seen.contains(header.name)) refuse_model("tensor " + name + " is in the file twice");
    const auto found = missing.find(header.name);
    if (found == missing.end()) refuse_model("the file has a tensor " + name + ", which this model does not have");
    const TensorShape expected = found->second;
    if (header.shape.dimensions != expected.dimensions || header.shape.type != expected.type) {
      refuse_model("tensor " + name + " is " + header.shape.describe() + ", expected " + expected.describe());
    }
    seen.emplace(header.name, StoredTensor{expected, reader.offset()});
    reader.skip(expected.bytes(), "tensor " + name);
    info.weight_bytes += expected.bytes();
    missing.erase(found);
  }
  if (seen.empty()) refuse_model("the model file has no tensors: it holds a vocabulary and no weights");
  if (!missing.empty()) {
    refuse_model(
        "the model file has " + std::to_string(seen.size()) + " of " + std::to_string(expected_count) + " tensors; " +
        std::min_element(missing.begin(), missing.end(), [](const auto& a, const auto& b) { return a.first < b.first; })
            ->first +
        " is missing");
  }
}

}  // namespace

ModelFileInfo check_model_file(std::istream& stream, Float32Files float32, std::int32_t least_tokens) {
  ModelStream reader(stream);
  ModelFileInfo info;
  info.shape = read_shape(reader, float32);
  info.mel_filters = read_mel_filters(reader, info.shape);
  info.vocabulary_offset = reader.offset();
  check_vocabulary(reader, info.shape, least_tokens);
  check_tensors(reader, info);
  return info;
}

void require_model_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::regular) return;
  std::string why = error ? error.message() : "it is not a regular file";
  if (type == std::filesystem::file_type::not_found) why = "there is no such file";
  throw EngineError(ErrorCode::kIoError, "cannot open the model file " + path.string() + ": " + why);
}

}  // namespace verbatim

#include "speech/model_file.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <unordered_map>

#include "error.h"
#include "speech/support.h"
#include "speech/whisper_cpp/model.h"

namespace verbatim {
namespace {

template <typename T>
void put(std::ostream& out, T value) {
  out.write(reinterpret_cast<const char*>(&value), sizeof(value));
}

// As check_model_file reads the header: the file type without the quantization version.
std::unordered_map<std::string, TensorShape> tensors_of(ModelShape shape) {
  shape.file_type %= 1000;
  return expected_tensors(shape);
}

// Writes the parts of a ggml Whisper file. Tensor data is a hole, so that the largest published model takes no disk
// space.
struct FileWriter {
  ModelShape shape;
  std::int32_t filter_bins = 201;
  std::string space = " ";
  std::function<void(std::string& name, TensorShape& tensor)> edit_tensor = [](std::string&, TensorShape&) {};

  void write_head(std::ostream& out) const {
    put<std::uint32_t>(out, 0x67676d6c);
    for (const std::int32_t value :
         {shape.vocabulary, shape.audio_context, shape.audio_state, shape.audio_heads, shape.audio_layers,
          shape.text_context, shape.text_state, shape.text_heads, shape.text_layers, shape.mels, shape.file_type}) {
      put(out, value);
    }
    put(out, shape.mels);
    put(out, filter_bins);
    out << std::string(sizeof(float) * static_cast<std::size_t>(shape.mels) * 201, '\0');
  }

  // OpenAI's multilingual vocabulary: 50257 tokens of 307057 bytes in total.
  void write_vocabulary(std::ostream& out) const {
    constexpr std::int32_t kTokens = 50257;
    constexpr std::int32_t kLongTokens = 307057 - 1 - 6 * (kTokens - 1);
    put(out, kTokens);
    for (std::int32_t i = 0; i < kTokens; ++i) {
      const std::string token = i == 0 ? space : i <= kLongTokens ? "a token" : "tokens";
      put(out, static_cast<std::uint32_t>(token.size()));
      out << token;
    }
  }

  void write_tensors(std::ostream& out) const {
    for (const auto& [key, value] : tensors_of(shape)) {
      std::string name = key;
      TensorShape tensor = value;
      const auto data_bytes = static_cast<std::streamoff>(tensor.bytes());
      edit_tensor(name, tensor);
      if (name.empty()) continue;
      put<std::int32_t>(out, 4);
      put(out, static_cast<std::int32_t>(name.size()));
      put(out, static_cast<std::int32_t>(tensor.type));
      for (const std::int64_t dimension : tensor.dimensions) put(out, static_cast<std::int32_t>(dimension));
      out << name;
      write_hole(out, data_bytes);
    }
  }

  // A string stream cannot skip; a file of the small shape is small.
  static void write_hole(std::ostream& out, std::streamoff bytes) {
    if (dynamic_cast<std::ostringstream*>(&out) != nullptr) {
      out << std::string(static_cast<std::size_t>(bytes), '\0');
    } else {
      out.seekp(bytes - 1, std::ios::cur);
      put(out, '\0');
    }
  }

  std::string bytes() const {
    std::ostringstream out;
    write_head(out);
    write_vocabulary(out);
    write_tensors(out);
    return out.str();
  }
};

ModelShape small_shape() {
  return {.vocabulary = 51865,
          .audio_context = 1500,
          .audio_state = 64,
          .audio_heads = 1,
          .audio_layers = 1,
          .text_context = 448,
          .text_state = 64,
          .text_heads = 1,
          .text_layers = 2,
          .mels = 80,
          .file_type = 2009};
}

ModelShape published(int state, int audio_layers, int text_layers, int mels, int vocabulary, int file_type) {
  return {.vocabulary = vocabulary,
          .audio_context = 1500,
          .audio_state = state,
          .audio_heads = state / 64,
          .audio_layers = audio_layers,
          .text_context = 448,
          .text_state = state,
          .text_heads = state / 64,
          .text_layers = text_layers,
          .mels = mels,
          .file_type = file_type};
}

std::string refusal(const std::string& bytes) {
  std::istringstream stream(bytes);
  try {
    check_model_file(stream);
  } catch (const EngineError& error) {
    CHECK(error.code() == ErrorCode::kInvalidModel);
    return error.what();
  }
  return "accepted";
}

std::string refusal(const std::function<void(FileWriter&)>& change) {
  FileWriter writer{.shape = small_shape()};
  change(writer);
  return refusal(writer.bytes());
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the bundled model passes the check") {
  std::istringstream stream(test::file_text(test::bundled_model_path()));
  const ModelFileInfo info = check_model_file(stream);
  CHECK(info.shape.multilingual());
  CHECK(info.weight_bytes > 1'000'000);
}

TEST_CASE("mel filters are read, and refused if they would make features infinite") {
  std::string bytes = FileWriter{.shape = small_shape()}.bytes();
  constexpr std::size_t kFilters = 14 * sizeof(std::int32_t);
  constexpr std::size_t kPlace = 79 * 201 + 200;
  const auto read = [&](float value) {
    std::memcpy(bytes.data() + kFilters + kPlace * sizeof(float), &value, sizeof(value));
    std::istringstream stream(bytes);
    return check_model_file(stream).mel_filters;
  };
  std::vector<float> expected(80 * 201);
  expected[kPlace] = 0.25f;
  CHECK(read(0.25f) == expected);
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(), 1001.0f}) {
    CHECK_THROWS_WITH_AS(read(value),
                         "the mel filters have values that are no numbers or beyond 1000; a filter's are within 0 to 1",
                         EngineError);
  }
}

// The sizes are those of the files at huggingface.co/ggerganov/whisper.cpp, so this checks the table of tensors against
// every published shape.
TEST_CASE("files of every published shape pass the check, and have the published sizes") {
  struct Model {
    const char* name;
    ModelShape shape;
    std::uint64_t published_bytes;
  };
  const Model models[] = {
      {"tiny", published(384, 4, 4, 80, 51865, 1), 77'691'713},
      {"tiny-q5_1", published(384, 4, 4, 80, 51865, 2009), 32'152'673},
      {"base", published(512, 6, 6, 80, 51865, 1), 147'951'465},
      {"base-q5_1", published(512, 6, 6, 80, 51865, 2009), 59'707'625},
      {"small", published(768, 12, 12, 80, 51865, 1), 487'601'967},
      {"medium", published(1024, 24, 24, 80, 51865, 1), 1'533'763'059},
      {"large-v2", published(1280, 32, 32, 80, 51865, 1), 3'094'623'691},
      {"large-v3", published(1280, 32, 32, 128, 51866, 1), 3'095'033'483},
      {"large-v3-turbo", published(1280, 32, 4, 128, 51866, 1), 1'624'555'275},
      {"large-v3-turbo-q5_0", published(1280, 32, 4, 128, 51866, 2008), 574'041'195},
      {"large-v3-turbo-q8_0", published(1280, 32, 4, 128, 51866, 2007), 874'188'075},
      {"tiny.en", published(384, 4, 4, 80, 51864, 1), 0},
      {"small q4_0", published(768, 12, 12, 80, 51865, 2002), 0},
      {"small q4_1", published(768, 12, 12, 80, 51865, 2003), 0},
      {"distil-large-v3", published(1280, 32, 2, 128, 51866, 1), 0},
  };
  for (const Model& model : models) {
    CAPTURE(model.name);
    const test::TemporaryFile file("sparse.bin");
    {
      std::ofstream out(file.path(), std::ios::binary);
      const FileWriter writer{.shape = model.shape};
      writer.write_head(out);
      writer.write_vocabulary(out);
      writer.write_tensors(out);
    }
    std::ifstream in(file.path(), std::ios::binary);
    const ModelFileInfo info = check_model_file(in);
    CHECK(info.shape.text_layers == model.shape.text_layers);
    if (model.published_bytes == 0) continue;
    // The published files store as many dimensions as a tensor has; the test's files always store four.
    std::uint64_t unused_dimensions = 0;
    for (const auto& [name, tensor] : tensors_of(model.shape)) {
      const bool bias_of_convolution = contains(name, "conv") && contains(name, "bias");
      const int rank = tensor.dimensions[2] > 1 ? 3 : tensor.dimensions[1] > 1 || bias_of_convolution ? 2 : 1;
      unused_dimensions += static_cast<std::uint64_t>(4 - rank);
    }
    CHECK(std::filesystem::file_size(file.path()) - 4 * unused_dimensions == model.published_bytes);
  }
}

TEST_CASE("a refusal names what is wrong and what was expected") {
  CHECK(contains(refusal(std::string()), "magic"));
  CHECK(contains(refusal(std::string("RIFF....WAVEfmt ")), "magic"));
  CHECK(contains(refusal(std::string("lmgg")), "truncated"));
  CHECK(contains(refusal([](FileWriter& f) { f.shape.vocabulary = 32000; }), "vocabulary size is 32000"));
  CHECK(contains(refusal([](FileWriter& f) { f.shape.audio_context = 3000; }), "audio context is 3000, allowed: 1500"));
  CHECK(contains(refusal([](FileWriter& f) { f.shape.text_state = 128; }), "text state size is 128"));
  CHECK(contains(refusal([](FileWriter& f) { f.shape.audio_heads = 0; }), "number of audio heads is 0"));
  CHECK(contains(refusal([](FileWriter& f) { f.shape.text_heads = 3; }), "number of text heads is 3"));
  CHECK(contains(refusal([](FileWriter& f) { f.shape.audio_state = f.shape.text_state = 100; }), "state size is 100"));
  CHECK(contains(refusal([](FileWriter& f) { f.shape.file_type = 0; }), "its convolutions end the process"));
  CHECK(contains(refusal([](FileWriter& f) { f.shape.file_type = 2010; }), "a multiple of the 256 values"));
  CHECK(contains(refusal([](FileWriter& f) { f.filter_bins = 200; }), "80 x 200, expected 80 x 201"));
  CHECK(contains(refusal([](FileWriter& f) { f.space = "_"; }), "lacks the token \" \""));
}

TEST_CASE("header values out of range are refused before anything is allocated for them") {
  std::string bytes = FileWriter{.shape = small_shape()}.bytes();
  for (const std::int32_t value :
       {-1, 0, 1 << 30, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()}) {
    for (std::size_t field = 0; field < 11; ++field) {
      CAPTURE(field);
      CAPTURE(value);
      std::string changed = bytes;
      changed.replace(4 + 4 * field, 4, reinterpret_cast<const char*>(&value), 4);
      CHECK(contains(refusal(changed), "the header's"));
    }
  }
}

TEST_CASE("tensors are checked by name, shape, type and number") {
  const std::string target = "decoder.blocks.1.attn.query.weight";
  const auto edit = [&](const std::function<void(std::string&, TensorShape&)>& change) {
    return refusal([&](FileWriter& f) {
      f.edit_tensor = [&](std::string& name, TensorShape& tensor) {
        if (name == target) change(name, tensor);
      };
    });
  };
  CHECK(contains(edit([](auto&, TensorShape& t) {
                   t.dimensions = {64, 128, 1, 1};
                 }),
                 "tensor " + target + " is [64, 128] of type q5_1, expected [64, 64] of type q5_1"));
  CHECK(contains(edit([](auto&, TensorShape& t) { t.type = GGML_TYPE_F16; }), "of type f16, expected"));
  CHECK(contains(edit([](auto&, TensorShape& t) { t.dimensions = {4096, 1, 1, 1}; }), "is [4096]"));
  CHECK(contains(edit([](auto&, TensorShape& t) { t.dimensions = {-64, -64, 1, 1}; }), "is [-64, -64]"));
  CHECK(contains(edit([](std::string& name, auto&) { name.clear(); }), target + " is missing"));
  CHECK(contains(edit([](std::string& name, auto&) { name = "decoder.blocks.2.attn.query.weight"; }),
                 "decoder.blocks.2.attn.query.weight, which this model does not have"));
  CHECK(contains(edit([](std::string& name, auto&) { name = std::string(4000, 'n'); }), "4000 bytes long"));
  CHECK(contains(edit([](std::string& name, auto&) { name = "decoder.ln.bias"; }), "decoder.ln.bias"));
}

TEST_CASE("a cut or lengthened file is refused, wherever the cut is") {
  const std::string bytes = FileWriter{.shape = small_shape()}.bytes();
  CHECK(refusal(bytes) == "accepted");
  for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 53) {
    CAPTURE(size);
    CHECK(refusal(bytes.substr(0, size)) != "accepted");
  }
  CHECK(contains(refusal(bytes.substr(0, bytes.size() - 1)), "truncated"));
  CHECK(contains(refusal(bytes + "x"), "truncated: a tensor's header needs 4 bytes, 1 are left"));
}

TEST_CASE("a vocabulary without weights (whisper.cpp's own test file) is refused with a clear reason") {
  std::ostringstream out;
  const FileWriter writer{.shape = small_shape()};
  writer.write_head(out);
  writer.write_vocabulary(out);
  CHECK(contains(refusal(out.str()), "no tensors"));
}

TEST_CASE("loading reports a missing file, a directory and a wrong file") {
  const auto code = [](const std::filesystem::path& path) {
    try {
      SpeechModel::load(path, "cpu");
    } catch (const EngineError& error) {
      return error.code();
    }
    return ErrorCode::kInternalError;
  };
  CHECK(code("/nonexistent/ggml-tiny.bin") == ErrorCode::kIoError);
  CHECK(code(std::filesystem::temp_directory_path()) == ErrorCode::kIoError);
  const test::TemporaryFile file("wrong.bin");
  file.write("this is not a model");
  CHECK(code(file.path()) == ErrorCode::kInvalidModel);
}

}  // namespace verbatim

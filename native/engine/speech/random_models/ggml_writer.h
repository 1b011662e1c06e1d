#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "speech/model_tensors.h"

namespace verbatim::random_models {

// Writes a ggml model file, field by field. Throws std::ios_base::failure.
class GgmlWriter {
 public:
  static constexpr std::uint32_t kMagic = 0x67676d6c;

  explicit GgmlWriter(const std::filesystem::path& path) {
    stream_.exceptions(std::ios::failbit | std::ios::badbit);
    stream_.open(path, std::ios::binary);
  }
  template <typename T>
  void value(T number) {
    bytes(&number, sizeof(number));
  }
  void bytes(const void* data, std::size_t size) {
    stream_.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  // Writes buffered data too, so that a full disk is reported here at the latest.
  void close() { stream_.close(); }
  // Writes a text after its length.
  void text(const std::string& characters) {
    value(static_cast<std::int32_t>(characters.size()));
    bytes(characters.data(), characters.size());
  }
  // Writes a tensor after its header; `values` are quantized to the tensor's type. least_rank: 0 for a number without a
  // dimension.
  void tensor(const std::string& name, const TensorShape& shape, const std::vector<float>& values,
              std::int32_t least_rank = 1);

 private:
  std::ofstream stream_;
};

// Writes a filter bank of triangles of equal width, after its numbers of bands and frequencies. Good enough for noise.
void write_filters(GgmlWriter& out, std::int32_t bands, std::int32_t frequencies);

// The file type in a header for the weights "f32", "f16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0" or "q2_k" to "q6_k",
// without the quantization version. Throws EngineError (invalid_argument) with what is allowed.
std::int32_t file_type(const std::string& weights);

// The same with the quantization version.
std::int32_t versioned(std::int32_t file_type);

// Hash of a tensor's name; std::hash may differ between libraries.
std::uint32_t name_hash(const std::string& name);

// "one, two", for messages.
std::string listed(const std::vector<std::string>& names);

// Values in a tensor.
std::size_t values_in(const TensorShape& shape);

}  // namespace verbatim::random_models

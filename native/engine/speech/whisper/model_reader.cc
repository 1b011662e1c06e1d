#include "speech/whisper/model_reader.h"

#include <ggml-cpu.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <istream>
#include <streambuf>

#include "error.h"

namespace verbatim::whisper {
namespace {

// Bytes in memory, for a stream that reads and skips.
class ByteBuffer : public std::streambuf {
 public:
  explicit ByteBuffer(std::span<const std::byte> bytes) {
    char* const begin = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
    setg(begin, begin, begin + bytes.size());
  }

 private:
  pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode mode) override {
    off_type base = 0;
    if (from == std::ios::end) base = egptr() - eback();
    if (from == std::ios::cur) base = gptr() - eback();
    return seekpos(base + offset, mode);
  }
  pos_type seekpos(pos_type position, std::ios_base::openmode) override {
    const auto at = static_cast<off_type>(position);
    if (at < 0 || at > egptr() - eback()) return off_type(-1);
    setg(eback(), eback() + at, egptr());
    return position;
  }
};

void convert(ggml_type type, const std::byte* from, float* to, std::int64_t count) {
  if (type == GGML_TYPE_F32) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
  } else if (type == GGML_TYPE_F16) {
    ggml_cpu_fp16_to_fp32(reinterpret_cast<const ggml_fp16_t*>(from), to, count);
  } else {
    ggml_get_type_traits(type)->to_float(from, to, count);
  }
}

MappedFile map_model(const std::filesystem::path& path) {
  require_model_file(path);
  return MappedFile(path);
}

ModelFileInfo check(const MappedFile& file, const std::filesystem::path& path) {
  try {
    ByteBuffer buffer(file.bytes());
    std::istream stream(&buffer);
    return check_model_file(stream, Float32Files::kAccepted);
  } catch (const EngineError& error) {
    throw EngineError(error.code(), path.filename().string() + ": " + error.what());
  }
}

}  // namespace

// ggml converts from aligned memory: a block of it at a time, which holds whole blocks of every type.
void StoredMatrix::read_row(std::size_t row, std::span<float> out) const noexcept {
  constexpr std::size_t kValues = 256;
  alignas(64) std::array<std::byte, kValues * sizeof(float)> block;
  const std::byte* from = data.data() + row * row_bytes();
  for (std::size_t first = 0; first < columns; first += kValues) {
    const auto count = static_cast<std::int64_t>(std::min(kValues, columns - first));
    const std::size_t bytes = ggml_row_size(type, count);
    std::memcpy(block.data(), from, bytes);
    convert(type, block.data(), out.data() + first, count);
    from += bytes;
  }
}

ModelReader::ModelReader(const std::filesystem::path& path)
    : file_(map_model(path)), info_(check(file_, path)) {
  // Fills the tables that some machines convert float16 with.
  ggml_cpu_init();
}

std::span<const std::byte> ModelReader::vocabulary() const {
  return file_.bytes().subspan(info_.vocabulary_offset);
}

StoredMatrix ModelReader::matrix(const std::string& name) const {
  const StoredTensor& tensor = info_.tensors.at(name);
  const auto& dimensions = tensor.shape.dimensions;
  return {tensor.shape.type, static_cast<std::size_t>(dimensions[1] * dimensions[2] * dimensions[3]),
          static_cast<std::size_t>(dimensions[0]),
          file_.bytes().subspan(tensor.offset, tensor.shape.bytes())};
}

std::vector<float> ModelReader::values(const std::string& name) const {
  const StoredMatrix stored = matrix(name);
  std::vector<float> all(stored.rows * stored.columns);
  for (std::size_t row = 0; row < stored.rows; ++row) {
    stored.read_row(row, std::span(all).subspan(row * stored.columns, stored.columns));
  }
  return all;
}

}  // namespace verbatim::whisper

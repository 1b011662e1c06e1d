#include "speech/model_stream.h"

#include <bit>
#include <istream>

#include "error.h"

namespace verbatim {
namespace {

static_assert(std::endian::native == std::endian::little, "ggml files are little-endian");

constexpr std::int32_t kMaxNameBytes = 128;
constexpr std::int32_t kQuantizationVersionFactor = 1000;

}  // namespace

void refuse_model(const std::string& message) { throw EngineError(ErrorCode::kInvalidModel, message); }

ModelStream::ModelStream(std::istream& stream) : stream_(stream) {
  stream_.clear();
  stream_.seekg(0, std::ios::end);
  const auto end = stream_.tellg();
  stream_.seekg(0, std::ios::beg);
  if (end < 0 || !stream_) refuse_model("the model file cannot be read");
  left_ = size_ = static_cast<std::uint64_t>(end);
}

std::string ModelStream::text(std::size_t size, std::string_view what) {
  std::string result(size, '\0');
  bytes(result.data(), size, what);
  return result;
}

void ModelStream::skip(std::uint64_t size, std::string_view what) {
  take(size, what);
  stream_.seekg(static_cast<std::streamoff>(size), std::ios::cur);
}

void ModelStream::bytes(void* target, std::size_t size, std::string_view what) {
  take(size, what);
  stream_.read(static_cast<char*>(target), static_cast<std::streamsize>(size));
  if (!stream_) refuse_model("the model file cannot be read: " + std::string(what));
}

void ModelStream::take(std::uint64_t size, std::string_view what) {
  if (size > left_) {
    refuse_model("the model file is truncated: " + std::string(what) + " needs " + std::to_string(size) + " bytes, " +
                 std::to_string(left_) + " are left");
  }
  left_ -= size;
}

TensorHeader read_tensor_header(ModelStream& stream, int least_rank) {
  const auto rank = stream.value<std::int32_t>("a tensor's header");
  const auto name_bytes = stream.value<std::int32_t>("a tensor's header");
  const auto type = stream.value<std::int32_t>("a tensor's header");
  if (!in_range(rank, least_rank, 4)) {
    refuse_model("a tensor has " + std::to_string(rank) + " dimensions, allowed: " + std::to_string(least_rank) +
                 " to 4");
  }
  if (!in_range(name_bytes, 1, kMaxNameBytes)) {
    refuse_model("a tensor's name is " + std::to_string(name_bytes) + " bytes long, allowed: 1 to 128");
  }
  TensorHeader header;
  for (std::int32_t i = 0; i < rank; ++i) {
    header.shape.dimensions[static_cast<std::size_t>(i)] = stream.value<std::int32_t>("a tensor's dimensions");
  }
  header.name = stream.text(static_cast<std::size_t>(name_bytes), "a tensor's name");
  if (!in_range(type, 0, GGML_TYPE_COUNT - 1)) {
    refuse_model("tensor " + printable(header.name) + " has the unknown type " + std::to_string(type));
  }
  header.shape.type = static_cast<ggml_type>(type);
  return header;
}

std::string printable(std::string_view name) {
  std::string result;
  for (const char c : name.substr(0, 64)) result += c >= ' ' && c <= '~' ? c : '?';
  return result;
}

std::int32_t without_quantization_version(std::int32_t file_type) noexcept {
  return file_type < 0 ? file_type : file_type % kQuantizationVersionFactor;
}

void expect_field(bool good, std::string_view what, std::int64_t value, std::string_view allowed) {
  if (good) return;
  refuse_model("the header's " + std::string(what) + " is " + std::to_string(value) +
               ", allowed: " + std::string(allowed));
}

bool in_range(std::int64_t value, std::int64_t low, std::int64_t high) noexcept {
  return value >= low && value <= high;
}

}  // namespace verbatim

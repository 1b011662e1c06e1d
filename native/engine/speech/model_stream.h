#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "speech/model_tensors.h"

namespace verbatim {

// Throws EngineError kInvalidModel.
[[noreturn]] void refuse_model(const std::string& message);

// A ggml file that tracks how many bytes are left, so that no size field is trusted beyond them. A read that fails is
// refused as an invalid model; `what` names the field.
class ModelStream {
 public:
  static constexpr std::uint32_t kMagic = 0x67676d6c;  // "ggml"

  // Reads from the stream's start. The stream's position afterwards is unspecified.
  explicit ModelStream(std::istream& stream);

  // Offset of the next byte, from the stream's start.
  std::uint64_t offset() const noexcept { return size_ - left_; }
  std::uint64_t left() const noexcept { return left_; }

  template <typename T>
  T value(std::string_view what) {
    T result{};
    bytes(&result, sizeof(result), what);
    return result;
  }
  template <typename T>
  std::vector<T> values(std::size_t count, std::string_view what) {
    std::vector<T> result(count);
    bytes(result.data(), count * sizeof(T), what);
    return result;
  }
  std::string text(std::size_t size, std::string_view what);
  void skip(std::uint64_t size, std::string_view what);

 private:
  void bytes(void* target, std::size_t size, std::string_view what);
  void take(std::uint64_t size, std::string_view what);

  std::istream& stream_;
  std::uint64_t size_ = 0;
  std::uint64_t left_ = 0;
};

struct TensorHeader {
  std::string name;
  TensorShape shape;
};

// The header before a tensor's values. `least_rank`: 0 where a single number may have no dimension.
TensorHeader read_tensor_header(ModelStream& stream, int least_rank);

// The first 64 characters of a name from a file, others than printable ASCII replaced.
std::string printable(std::string_view name);

// The header of a quantized file has the quantization version in the thousands of its file type.
std::int32_t without_quantization_version(std::int32_t file_type) noexcept;

// Refuses the model unless `good`. `what` names the header's field, `allowed` its allowed values.
void expect_field(bool good, std::string_view what, std::int64_t value, std::string_view allowed);

bool in_range(std::int64_t value, std::int64_t low, std::int64_t high) noexcept;

}  // namespace verbatim

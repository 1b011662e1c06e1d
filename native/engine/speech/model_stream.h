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

// A ggml file that knows how much of it is left, so that no size field is believed before the bytes are
// there. What cannot be read is refused as a model; `what` names it.
class ModelStream {
 public:
  static constexpr std::uint32_t kMagic = 0x67676d6c;  // "ggml"

  // From the stream's start. Leaves it anywhere.
  explicit ModelStream(std::istream& stream);

  // Of what is read next, from the stream's start.
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

// What stands before a tensor's values. `least_rank`: 0 where a single number may have no dimension.
TensorHeader read_tensor_header(ModelStream& stream, int least_rank);

// At most 64 characters of a name from a file, as ASCII.
std::string printable(std::string_view name);

// A quantized file's header carries the version of the quantization in the thousands of its file type.
std::int32_t without_quantization_version(std::int32_t file_type) noexcept;

// Refuses the model where a field of its header is not `good`; `what` names it, `allowed` what it may be.
void expect_field(bool good, std::string_view what, std::int64_t value, std::string_view allowed);

bool in_range(std::int64_t value, std::int64_t low, std::int64_t high) noexcept;

}  // namespace verbatim

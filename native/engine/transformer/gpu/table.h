#pragma once

#include <ggml.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "transformer/compute_type.h"
#include "transformer/gpu/device.h"

namespace verbatim::transformer {

// A tensor on a device that outlives graphs and may grow.
class GpuTable {
 public:
  using Shape = std::array<std::size_t, 4>;

  // Changes the shape. With `keep` no dimension may shrink: values keep their indices, and the rest is zero. Graphs on
  // the old tensor become invalid. The device must be locked. Throws EngineError kOutOfMemory; the table is then
  // unchanged with `keep`, and empty without.
  void resize(GpuDevice& device, ggml_type type, const Shape& shape, bool keep);
  ggml_tensor* tensor() const noexcept { return tensor_; }
  std::size_t bytes() const noexcept { return tensor_ ? ggml_nbytes(tensor_) : 0; }

 private:
  GpuStorage storage_;
  ggml_tensor* tensor_ = nullptr;
};

// ggml's type for a cache. Throws EngineError kInvalidArgument for types other than float32 and float16; `what` names
// the cache.
ggml_type cache_element_type(ComputeType type, std::string_view what);

}  // namespace verbatim::transformer

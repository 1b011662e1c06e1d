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

  // Another shape. To keep what is there, no dimension may be smaller: it then stays where its indices say,
  // and the rest is zero. Graphs on the old tensor are void. The device must be locked. Throws EngineError
  // kOutOfMemory: the table is then as before if it was to be kept, else it is empty.
  void resize(GpuDevice& device, ggml_type type, const Shape& shape, bool keep);
  ggml_tensor* tensor() const noexcept { return tensor_; }
  std::size_t bytes() const noexcept { return tensor_ ? ggml_nbytes(tensor_) : 0; }

 private:
  GpuStorage storage_;
  ggml_tensor* tensor_ = nullptr;
};

// What caches on a device are kept in. Throws EngineError kInvalidArgument for others than float32 and
// float16; `what` names the cache.
ggml_type cache_element_type(ComputeType type, std::string_view what);

}  // namespace verbatim::transformer

#include "transformer/gpu/inputs.h"

#include <utility>

#include "transformer/gpu/device_errors.h"

namespace verbatim::transformer {

ggml_tensor* GpuInputs::add(ggml_type type, std::size_t a, std::size_t b, std::size_t d) {
  ggml_tensor* tensor = ggml_new_tensor_4d(context_.get(), type, dim(a), dim(b), 1, dim(d));
  ggml_set_input(tensor);
  tensors_.push_back(tensor);
  return tensor;
}

void GpuInputs::allocate() {
  const std::size_t alignment = ggml_backend_buft_get_alignment(device_.memory());
  std::vector<std::size_t> places;
  std::size_t bytes = 0;
  for (const ggml_tensor* tensor : tensors_) {
    places.push_back(bytes);
    bytes += (ggml_nbytes(tensor) + alignment - 1) / alignment * alignment;
  }
  staging_.assign(bytes, std::byte{0});
  if (storage_tensor_ == nullptr || ggml_nbytes(storage_tensor_) < bytes) {
    storage_ = {};
    ggml_context_ptr context = new_gpu_context(1);
    storage_tensor_ = ggml_new_tensor_1d(context.get(), GGML_TYPE_I8, dim(bytes));
    storage_ = device_.new_storage(std::move(context));
  }
  on_device([&] {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      void* const place = static_cast<std::byte*>(storage_tensor_->data) + places[i];
      if (ggml_backend_tensor_alloc(storage_tensor_->buffer, tensors_[i], place) != GGML_STATUS_SUCCESS)
        throw_out_of_device_memory();
    }
  });
}

void GpuInputs::clear() {
  tensors_.clear();
  context_ = new_gpu_context(kMostInputs);
}

std::size_t GpuInputs::place_of(const ggml_tensor* tensor) const {
  return static_cast<std::size_t>(static_cast<const std::byte*>(tensor->data) -
                                  static_cast<const std::byte*>(storage_tensor_->data));
}

std::size_t GpuInputs::memory_bytes() const noexcept {
  return staging_.capacity() + (storage_tensor_ ? ggml_nbytes(storage_tensor_) : 0);
}

}  // namespace verbatim::transformer

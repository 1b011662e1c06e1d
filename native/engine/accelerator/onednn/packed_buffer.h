#pragma once

#include <ggml-backend.h>

namespace verbatim::accelerator {

// Whether the tensor is in a buffer of packed weights (graph.h).
bool is_packed(const ggml_tensor& tensor);
bool is_packed_type(ggml_backend_buffer_type_t type);

}  // namespace verbatim::accelerator

#pragma once

#include <ggml-backend.h>

#include <memory>

#include "accelerator/accelerator.h"

// The accelerator for graphs that this engine builds itself. Their weights exist in packed form only.
namespace verbatim::accelerator {

// The type of a packed value: GGML_TYPE_BF16 or GGML_TYPE_F32. store: not null.
ggml_type operand_type(const WeightStore& store) noexcept;

// Buffers for matrices [depth, outputs] of operand_type(). pack() fills them, and only the products of make_backend()'s
// backends read them.
ggml_backend_buffer_type_t packed_buffer_type(const WeightStore& store);

// Fills a matrix in such a buffer. values: its rows as operands, one behind the other. Throws std::bad_alloc, and
// std::exception for errors of the accelerator.
void pack(const ggml_tensor& matrix, const void* values);

// A backend that computes in the store's type, to be freed with ggml_backend_free(); null if out of memory.
ggml_backend_t make_backend(std::shared_ptr<WeightStore> store);

}  // namespace verbatim::accelerator

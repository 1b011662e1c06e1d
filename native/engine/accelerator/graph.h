#pragma once

#include <ggml-backend.h>

#include <memory>

#include "accelerator/accelerator.h"

// The accelerator for graphs that this engine builds itself: their weights are kept packed and in no other
// form.
namespace verbatim::accelerator {

// The type of one packed value: GGML_TYPE_BF16 or GGML_TYPE_F32. store: not null.
ggml_type operand_type(const WeightStore& store) noexcept;

// Buffers for matrices [depth, outputs] of operand_type(): pack() fills them, and the products of
// make_backend()'s backends are all that reads them.
ggml_backend_buffer_type_t packed_buffer_type(const WeightStore& store);

// Fills a matrix that lies in such a buffer; values: its rows as operands, one behind the other. Throws
// std::bad_alloc, and std::exception for what the accelerator reports.
void pack(const ggml_tensor& matrix, const void* values);

// A backend that computes on the store's type, to be freed with ggml_backend_free(); null without memory.
ggml_backend_t make_backend(std::shared_ptr<WeightStore> store);

}  // namespace verbatim::accelerator

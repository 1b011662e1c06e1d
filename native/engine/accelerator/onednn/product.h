#pragma once

struct ggml_tensor;

namespace verbatim::accelerator {

struct Workspace;

// Whether the accelerator supports this GGML_OP_MUL_MAT: a matrix times many float32 (or float16) columns, all
// contiguous, in float32. "Many" is 240 or more for a weight and 48 or more for an activation. Products with fewer
// columns are bound by reading the weights, which ggml reads in their own, smaller type. Vocabulary projections are
// excluded: the decoder computes them one column at a time, and their packed copy would be the largest of all.
bool takes_product(const ggml_tensor& product);
// The same for a model's weight.
bool takes_weight_product(const ggml_tensor& product);
// GGML_OP_ADD of one bias row to the result of such a product.
bool takes_bias(const ggml_tensor& sum);
// GGML_OP_UNARY GELU (tanh) of such a sum.
bool takes_gelu(const ggml_tensor& activation);

// target = epilogue(product). `bias` and `gelu` are fused in; the target is the last of the three. Throws dnnl::error,
// std::bad_alloc.
void compute_product(Workspace& workspace, const ggml_tensor& product, const ggml_tensor* bias, bool gelu,
                     const ggml_tensor& target);
// target = second(GELU(first + bias)) + bias; the intermediate result is kept as operands.
void compute_feed_forward(Workspace& workspace, const ggml_tensor& first, const ggml_tensor& first_bias,
                          const ggml_tensor& second, const ggml_tensor& second_bias, const ggml_tensor& target);
// The same operations one by one, for graphs in which other nodes read the intermediate result.
void compute_bias(const ggml_tensor& sum);
void compute_gelu(const ggml_tensor& activation);

}  // namespace verbatim::accelerator

#pragma once

struct ggml_tensor;

namespace verbatim::accelerator {

struct Workspace;

// Whether the accelerator supports this GGML_OP_FLASH_ATTN_EXT. It supports self-attention of an encoder: many float32
// queries, float16 (or float32) keys and values, one head of keys for each head of queries, no mask, no sinks, no bias
// by distance, no soft cap.
bool takes_attention(const ggml_tensor& attention);

// softmax(scale * Q Kt) V for every head, over all keys, padding included, as in ggml. Scores are computed for a block
// of queries at a time. Throws dnnl::error, std::bad_alloc.
void compute_attention(Workspace& workspace, const ggml_tensor& attention);

}  // namespace verbatim::accelerator

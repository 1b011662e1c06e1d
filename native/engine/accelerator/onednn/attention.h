#pragma once

struct ggml_tensor;

namespace verbatim::accelerator {

struct Workspace;

// Whether the accelerator takes this GGML_OP_FLASH_ATTN_EXT: self-attention of an encoder, i.e. many float32
// queries, float16 (or float32) keys and values, a head of keys for a head of queries, no mask, no sinks, no
// bias by distance, no soft cap.
bool takes_attention(const ggml_tensor& attention);

// softmax(scale * Q Kt) V for every head, over all keys, padding included, as ggml does it. Scores are
// computed for a block of queries at a time. Throws dnnl::error, std::bad_alloc.
void compute_attention(Workspace& workspace, const ggml_tensor& attention);

}  // namespace verbatim::accelerator

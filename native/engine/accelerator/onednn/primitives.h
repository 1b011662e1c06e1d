#pragma once

#include <dnnl.hpp>

// What oneDNN 2.6 and oneDNN 3 name or build differently.
namespace verbatim::accelerator {

#if DNNL_VERSION_MAJOR >= 3
using Softmax = dnnl::softmax_forward;
#else
using Softmax = dnnl::softmax_v2_forward;
#endif

void append_eltwise(dnnl::post_ops& post_ops, dnnl::algorithm algorithm, float alpha);

// bias: null without one. Throws dnnl::error.
dnnl::matmul::primitive_desc describe_matmul(const dnnl::engine& engine, const dnnl::memory::desc& source,
                                             const dnnl::memory::desc& weights, const dnnl::memory::desc* bias,
                                             const dnnl::memory::desc& target, const dnnl::primitive_attr& attributes);

// Softmax of each row of a matrix. Throws dnnl::error.
Softmax::primitive_desc describe_softmax(const dnnl::engine& engine, const dnnl::memory::desc& source,
                                         const dnnl::memory::desc& target, const dnnl::primitive_attr& attributes);

}  // namespace verbatim::accelerator

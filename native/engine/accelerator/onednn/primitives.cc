#include "accelerator/onednn/primitives.h"

namespace verbatim::accelerator {
namespace {

// Softmax is over the columns of a row.
constexpr int kColumnAxis = 1;

}  // namespace

#if DNNL_VERSION_MAJOR >= 3

void append_eltwise(dnnl::post_ops& post_ops, dnnl::algorithm algorithm, float alpha) {
  post_ops.append_eltwise(algorithm, alpha, 0.0f);
}

dnnl::matmul::primitive_desc describe_matmul(const dnnl::engine& engine, const dnnl::memory::desc& source,
                                             const dnnl::memory::desc& weights, const dnnl::memory::desc* bias,
                                             const dnnl::memory::desc& target, const dnnl::primitive_attr& attributes) {
  if (bias == nullptr) return {engine, source, weights, target, attributes};
  return {engine, source, weights, *bias, target, attributes};
}

Softmax::primitive_desc describe_softmax(const dnnl::engine& engine, const dnnl::memory::desc& source,
                                         const dnnl::memory::desc& target, const dnnl::primitive_attr& attributes) {
  return {engine,    dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, source, target, kColumnAxis,
          attributes};
}

#else

void append_eltwise(dnnl::post_ops& post_ops, dnnl::algorithm algorithm, float alpha) {
  post_ops.append_eltwise(1.0f, algorithm, alpha, 0.0f);
}

dnnl::matmul::primitive_desc describe_matmul(const dnnl::engine& engine, const dnnl::memory::desc& source,
                                             const dnnl::memory::desc& weights, const dnnl::memory::desc* bias,
                                             const dnnl::memory::desc& target, const dnnl::primitive_attr& attributes) {
  if (bias == nullptr) return {dnnl::matmul::desc(source, weights, target), attributes, engine};
  return {dnnl::matmul::desc(source, weights, *bias, target), attributes, engine};
}

Softmax::primitive_desc describe_softmax(const dnnl::engine& engine, const dnnl::memory::desc& source,
                                         const dnnl::memory::desc& target, const dnnl::primitive_attr& attributes) {
  return {{dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, source, target, kColumnAxis},
          attributes,
          engine};
}

#endif

}  // namespace verbatim::accelerator

#include "accelerator/onednn/matmul.h"

#include "accelerator/onednn/primitives.h"

namespace verbatim::accelerator {
namespace {

using Layout = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

// The layout that oneDNN prefers depends on the number of rows only through its blocks of rows.
constexpr std::int64_t kTypicalRows = 512;

dnnl::post_ops post_ops_of(Epilogue epilogue) {
  dnnl::post_ops after;
  switch (epilogue) {
    case Epilogue::kGelu:
    case Epilogue::kBiasGelu:
      append_eltwise(after, dnnl::algorithm::eltwise_gelu_tanh, 0.0f);
      break;
    case Epilogue::kSilu:
    case Epilogue::kBiasSilu:
      append_eltwise(after, dnnl::algorithm::eltwise_swish, 1.0f);
      break;
    case Epilogue::kRelu:
    case Epilogue::kBiasRelu:
      append_eltwise(after, dnnl::algorithm::eltwise_relu, 0.0f);
      break;
    case Epilogue::kAdd:
    case Epilogue::kBiasAdd:
      after.append_sum(1.0f);
      break;
    case Epilogue::kNone:
    case Epilogue::kBias:
      break;
  }
  return after;
}

bool has_bias(Epilogue epilogue) {
  return epilogue == Epilogue::kBias || epilogue == Epilogue::kBiasGelu || epilogue == Epilogue::kBiasSilu ||
         epilogue == Epilogue::kBiasRelu || epilogue == Epilogue::kBiasAdd;
}

dnnl::matmul::primitive_desc describe(const dnnl::engine& engine, const MatmulShape& shape, const Layout& weights) {
  const Layout source({shape.rows, shape.depth}, shape.type, Tag::ab);
  const Layout target({shape.rows, shape.columns}, shape.result, Tag::ab);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(post_ops_of(shape.epilogue));
  const Layout bias({1, shape.columns}, DataType::f32, Tag::ab);
  return describe_matmul(engine, source, weights, has_bias(shape.epilogue) ? &bias : nullptr, target, attributes);
}

Layout operand_layout(const dnnl::engine& engine, const MatmulShape& shape) {
  const dnnl::memory::dims dims{shape.depth, shape.columns};
  switch (shape.operand) {
    case MatmulShape::Operand::kByColumn:
      return {dims, shape.type, Tag::ba};
    case MatmulShape::Operand::kByRow:
      return {dims, shape.type, Tag::ab};
    case MatmulShape::Operand::kPacked:
      break;
  }
  return packed_layout(engine, shape.columns, shape.depth, shape.type);
}

}  // namespace

dnnl::memory::desc packed_layout(const dnnl::engine& engine, std::int64_t columns, std::int64_t depth, DataType type) {
  MatmulShape typical;
  typical.rows = kTypicalRows;
  typical.columns = columns;
  typical.depth = depth;
  typical.type = type;
  return describe(engine, typical, Layout({depth, columns}, type, Tag::any)).weights_desc();
}

const Matmul& MatmulCache::get(const MatmulShape& shape) {
  const auto found = matmuls_.find(shape);
  if (found != matmuls_.end()) return found->second;
  if (matmuls_.size() >= kMost) matmuls_.clear();
  Matmul made;
  made.description = describe(engine_, shape, operand_layout(engine_, shape));
  made.primitive = dnnl::matmul(made.description);
  return matmuls_.emplace(shape, made).first->second;
}

}  // namespace verbatim::accelerator

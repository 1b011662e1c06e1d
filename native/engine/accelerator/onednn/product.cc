#include "accelerator/onednn/product.h"

#include <ggml-backend.h>
#include <ggml.h>

#include <algorithm>
#include <cmath>

#include "accelerator/onednn/workspace.h"

namespace verbatim::accelerator {
namespace {

// A window has 256 positions or more, a decoder's prompt 227 tokens or fewer. So the only decoder weights that are
// packed are the projections of the encoder's output.
constexpr std::int64_t kLeastPositions = 240;
constexpr std::int64_t kLeastColumns = 48;
constexpr std::int64_t kLeastDepth = 64;
constexpr std::int64_t kLeastRows = 32;
// Largest ratio of a weight's rows to its depth. The ratio is 4 in feed-forward blocks and 40 to 270 in vocabulary
// projections.
constexpr std::int64_t kMostSlender = 8;

ggml_backend_buffer_t buffer_of(const ggml_tensor& tensor) {
  return tensor.view_src != nullptr ? tensor.view_src->buffer : tensor.buffer;
}

// In a buffer of another kind the layout of a tensor does not follow from its type.
bool is_plain_memory(const ggml_tensor& tensor) {
  const ggml_backend_buffer_t buffer = buffer_of(tensor);
  return buffer == nullptr || ggml_backend_buffer_is_host(buffer);
}

bool is_weight(const ggml_tensor& tensor) {
  const ggml_backend_buffer_t buffer = buffer_of(tensor);
  return buffer != nullptr && ggml_backend_buffer_get_usage(buffer) == GGML_BACKEND_BUFFER_USAGE_WEIGHTS;
}

bool is_plain_matrix(const ggml_tensor& tensor) { return ggml_is_matrix(&tensor) && ggml_is_contiguous(&tensor); }

bool convertible(ggml_type type) {
  return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || ggml_get_type_traits(type)->to_float != nullptr;
}

// Converts the rows of a ggml tensor to operands.
void convert(const ggml_tensor& tensor, DataType type, void* to, Workspace& workspace) {
  const std::int64_t depth = tensor.ne[0];
  const std::int64_t rows = tensor.ne[1];
  const std::size_t row_bytes = static_cast<std::size_t>(depth) * operand_bytes(type);
  float* const scratch = workspace.floats.reserve_as<float>(static_cast<std::size_t>(depth * workspace.threads));
#pragma omp parallel for num_threads(workspace.threads)
  for (std::int64_t row = 0; row < rows; ++row) {
    to_operands(tensor.type, static_cast<const char*>(tensor.data) + static_cast<std::size_t>(row) * tensor.nb[1], type,
                static_cast<char*>(to) + static_cast<std::size_t>(row) * row_bytes, depth,
                scratch + omp_get_thread_num() * depth);
  }
}

// The tensor's data if oneDNN can read it directly, else a copy in `buffer`.
void* operand(const ggml_tensor& tensor, DataType type, Buffer& buffer, Workspace& workspace) {
  void* const copy = buffer.reserve(static_cast<std::size_t>(ggml_nelements(&tensor)) * operand_bytes(type));
  convert(tensor, type, copy, workspace);
  return copy;
}

Epilogue epilogue_of(const ggml_tensor* bias, bool gelu) {
  if (bias == nullptr) return Epilogue::kNone;
  return gelu ? Epilogue::kBiasGelu : Epilogue::kBias;
}

// result = epilogue(product), with the product's columns as operands at `left`.
void multiply(Workspace& workspace, const ggml_tensor& product, void* left, const ggml_tensor* bias, bool gelu,
              void* result, DataType result_type) {
  const ggml_tensor& weights = *product.src[0];
  const bool packed = is_weight(weights);

  MatmulShape shape;
  shape.rows = product.src[1]->ne[1];
  shape.columns = weights.ne[1];
  shape.depth = weights.ne[0];
  shape.epilogue = epilogue_of(bias, gelu);
  shape.operand = packed ? MatmulShape::Operand::kPacked : MatmulShape::Operand::kByColumn;
  shape.type = workspace.store->type();
  shape.result = result_type;
  shape.threads = workspace.threads;
  const Matmul& matmul = workspace.matmuls.get(shape);

  void* const right = packed ? const_cast<void*>(workspace.store->packed(weights))
                             : operand(weights, shape.type, workspace.right, workspace);
  const auto& engine = cpu_engine();
  const dnnl::memory::desc scratch = matmul.description.scratchpad_desc();
  std::unordered_map<int, dnnl::memory> arguments{
      {DNNL_ARG_SRC, {matmul.description.src_desc(), engine, left}},
      {DNNL_ARG_WEIGHTS, {matmul.description.weights_desc(), engine, right}},
      {DNNL_ARG_DST, {matmul.description.dst_desc(), engine, result}},
      {DNNL_ARG_SCRATCHPAD, {scratch, engine, workspace.scratchpad.reserve(scratch.get_size())}}};
  if (bias != nullptr) {
    arguments.insert({DNNL_ARG_BIAS, {matmul.description.bias_desc(), engine, bias->data}});
  }
  matmul.primitive.execute(workspace.stream, arguments);
  workspace.stream.wait();
  if (packed) workspace.store->count_product();
}

}  // namespace

bool takes_product(const ggml_tensor& product) {
  if (product.op != GGML_OP_MUL_MAT) return false;
  const ggml_tensor& weights = *product.src[0];
  const ggml_tensor& columns = *product.src[1];
  return is_plain_memory(weights) && is_plain_matrix(weights) && is_plain_matrix(columns) && is_plain_matrix(product) &&
         product.type == GGML_TYPE_F32 && (columns.type == GGML_TYPE_F32 || columns.type == GGML_TYPE_F16) &&
         convertible(weights.type) && columns.ne[1] >= (is_weight(weights) ? kLeastPositions : kLeastColumns) &&
         weights.ne[0] >= kLeastDepth && weights.ne[1] >= kLeastRows &&
         weights.ne[1] <= kMostSlender * std::max(weights.ne[0], columns.ne[1]);
}

bool takes_weight_product(const ggml_tensor& product) { return takes_product(product) && is_weight(*product.src[0]); }

bool takes_bias(const ggml_tensor& sum) {
  if (sum.op != GGML_OP_ADD || !takes_product(*sum.src[0])) return false;
  const ggml_tensor& bias = *sum.src[1];
  return bias.type == GGML_TYPE_F32 && sum.type == GGML_TYPE_F32 && ggml_is_contiguous(&bias) &&
         ggml_is_contiguous(&sum) && bias.ne[0] == sum.ne[0] && ggml_nrows(&bias) == 1;
}

bool takes_gelu(const ggml_tensor& activation) {
  return activation.op == GGML_OP_UNARY && ggml_get_unary_op(&activation) == GGML_UNARY_OP_GELU &&
         takes_bias(*activation.src[0]) && ggml_is_contiguous(&activation);
}

void compute_product(Workspace& workspace, const ggml_tensor& product, const ggml_tensor* bias, bool gelu,
                     const ggml_tensor& target) {
  void* const left = operand(*product.src[1], workspace.store->type(), workspace.left, workspace);
  multiply(workspace, product, left, bias, gelu, target.data, DataType::f32);
}

void compute_feed_forward(Workspace& workspace, const ggml_tensor& first, const ggml_tensor& first_bias,
                          const ggml_tensor& second, const ggml_tensor& second_bias, const ggml_tensor& target) {
  const DataType type = workspace.store->type();
  void* const left = operand(*first.src[1], type, workspace.left, workspace);
  void* const inner = workspace.inner.reserve(static_cast<std::size_t>(ggml_nelements(&first)) * operand_bytes(type));
  multiply(workspace, first, left, &first_bias, true, inner, type);
  multiply(workspace, second, inner, &second_bias, false, target.data, DataType::f32);
}

void compute_bias(const ggml_tensor& sum) {
  const std::int64_t width = sum.ne[0];
  const auto* bias = static_cast<const float*>(sum.src[1]->data);
  const auto* from = static_cast<const float*>(sum.src[0]->data);
  auto* to = static_cast<float*>(sum.data);
  for (std::int64_t row = 0; row < ggml_nrows(&sum); ++row) {
    for (std::int64_t i = 0; i < width; ++i) to[row * width + i] = from[row * width + i] + bias[i];
  }
}

void compute_gelu(const ggml_tensor& activation) {
  constexpr float kRootOfTwoOverPi = 0.79788456080286535588f;
  constexpr float kCubic = 0.044715f;
  const auto* from = static_cast<const float*>(activation.src[0]->data);
  auto* to = static_cast<float*>(activation.data);
  for (std::int64_t i = 0; i < ggml_nelements(&activation); ++i) {
    const float x = from[i];
    to[i] = 0.5f * x * (1.0f + std::tanh(kRootOfTwoOverPi * x * (1.0f + kCubic * x * x)));
  }
}

}  // namespace verbatim::accelerator

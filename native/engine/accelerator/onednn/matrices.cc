#include "accelerator/matrices.h"

#include <ggml.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include "accelerator/onednn/workspace.h"

namespace verbatim::accelerator {
namespace {

Epilogue epilogue_of(const WeightProduct& product) {
  using Then = WeightProduct::Then;
  switch (product.then) {
    case Then::kSilu:
      return product.bias == nullptr ? Epilogue::kSilu : Epilogue::kBiasSilu;
    case Then::kRelu:
      return product.bias == nullptr ? Epilogue::kRelu : Epilogue::kBiasRelu;
    case Then::kGelu:
      return product.bias == nullptr ? Epilogue::kGelu : Epilogue::kBiasGelu;
    case Then::kAdd:
      return product.bias == nullptr ? Epilogue::kAdd : Epilogue::kBiasAdd;
    case Then::kNothing:
      break;
  }
  return product.bias == nullptr ? Epilogue::kNone : Epilogue::kBias;
}

// The shape of a product of two matrices that are not packed.
MatmulShape plain_shape(std::int64_t rows, std::int64_t columns, std::int64_t depth, MatmulShape::Operand operand) {
  MatmulShape shape;
  shape.rows = rows;
  shape.columns = columns;
  shape.depth = depth;
  shape.operand = operand;
  return shape;
}

}  // namespace

void to_operands(const WeightStore& store, const float* from, std::size_t count, void* to) {
  to_operands(GGML_TYPE_F32, from, store.type(), to, static_cast<std::int64_t>(count), nullptr);
}

PackedWeight::PackedWeight(const WeightStore& store, std::int64_t inputs, std::int64_t outputs, const float* rows)
    : inputs_(inputs), outputs_(outputs) {
  const dnnl::memory::desc layout = packed_layout(cpu_engine(), outputs, inputs, store.type());
  const dnnl::memory::desc plain({inputs, outputs}, DataType::f32, dnnl::memory::format_tag::ba);
  const auto buffer = std::make_shared<Buffer>();
  bytes_ = layout.get_size();
  dnnl::memory source(plain, cpu_engine(), const_cast<float*>(rows));
  dnnl::memory packed(layout, cpu_engine(), buffer->reserve(bytes_));
  dnnl::stream stream(cpu_engine());
  dnnl::reorder(source, packed).execute(stream, source, packed);
  stream.wait();
  data_ = std::shared_ptr<const void>(buffer, buffer->reserve(0));
}

struct Multiplier::Impl {
  Impl(std::shared_ptr<WeightStore> weights, int of_threads)
      : store(std::move(weights)), stream(cpu_engine()), matmuls(cpu_engine()), threads(of_threads) {}

  void run(MatmulShape shape, const void* left, const void* right, const float* bias, void* result);

  std::shared_ptr<WeightStore> store;
  dnnl::stream stream;
  MatmulCache matmuls;
  Buffer scratchpad;
  int threads;
};

void Multiplier::Impl::run(MatmulShape shape, const void* left, const void* right, const float* bias, void* result) {
  const ThreadCount count(threads);
  shape.type = store->type();
  shape.threads = threads;
  const Matmul& matmul = matmuls.get(shape);
  const auto& engine = cpu_engine();
  const dnnl::memory::desc scratch = matmul.description.scratchpad_desc();
  std::unordered_map<int, dnnl::memory> arguments{
      {DNNL_ARG_SRC, {matmul.description.src_desc(), engine, const_cast<void*>(left)}},
      {DNNL_ARG_WEIGHTS, {matmul.description.weights_desc(), engine, const_cast<void*>(right)}},
      {DNNL_ARG_DST, {matmul.description.dst_desc(), engine, result}},
      {DNNL_ARG_SCRATCHPAD, {scratch, engine, scratchpad.reserve(scratch.get_size())}}};
  if (bias != nullptr) {
    arguments.insert({DNNL_ARG_BIAS, {matmul.description.bias_desc(), engine, const_cast<float*>(bias)}});
  }
  matmul.primitive.execute(stream, arguments);
  stream.wait();
}

Multiplier::Multiplier(std::shared_ptr<WeightStore> store, int threads)
    : impl_(std::make_unique<Impl>(std::move(store), threads)) {}
Multiplier::~Multiplier() = default;
Multiplier::Multiplier(Multiplier&&) noexcept = default;

void Multiplier::multiply(const WeightProduct& product) {
  MatmulShape shape;
  shape.rows = product.rows;
  shape.columns = product.weight.outputs();
  shape.depth = product.weight.inputs();
  shape.epilogue = epilogue_of(product);
  shape.result = product.as_operands ? impl_->store->type() : DataType::f32;
  impl_->run(shape, product.left, product.weight.data(), product.bias, product.result);
  impl_->store->count_product();
}

void Multiplier::multiply_by_columns(std::int64_t rows, std::int64_t columns, std::int64_t depth, const void* left,
                                     const void* right, float* result) {
  impl_->run(plain_shape(rows, columns, depth, MatmulShape::Operand::kByColumn), left, right, nullptr, result);
}

void Multiplier::multiply_by_rows(std::int64_t rows, std::int64_t columns, std::int64_t depth, const void* left,
                                  const void* right, float* result) {
  impl_->run(plain_shape(rows, columns, depth, MatmulShape::Operand::kByRow), left, right, nullptr, result);
}

std::size_t Multiplier::memory_bytes() const noexcept { return impl_->scratchpad.size(); }

// An exception must not leave an OpenMP region.
void for_each(std::int64_t count, int threads,
              const std::function<void(std::int64_t index, std::size_t thread)>& task) {
  std::exception_ptr failure;
  std::mutex mutex;
  std::atomic<bool> failed{false};
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::int64_t index = 0; index < count; ++index) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      task(index, static_cast<std::size_t>(omp_get_thread_num()));
    } catch (...) {
      const std::lock_guard lock(mutex);
      failed = true;
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace verbatim::accelerator

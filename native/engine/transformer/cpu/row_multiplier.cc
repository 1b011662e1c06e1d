#include "transformer/cpu/row_multiplier.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "transformer/cpu/row_product.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {
namespace {

class KernelMultiplier final : public RowMultiplier {
 public:
  KernelMultiplier(ComputeType type, const Kernels& kernels) : type_(type), kernels_(kernels) {}

  std::size_t block_rows() const noexcept override { return 48; }
  std::size_t row_bytes(std::size_t depth) const noexcept override { return operand_row_bytes(type_, depth); }
  void write_operands(const float* row, std::size_t depth, std::byte* out) const override {
    transformer::write_operands(kernels_, type_, row, depth, out);
  }

  void multiply(const LinearProduct& product) override {
    transformer::multiply(kernels_, {.weight = *product.weight.for_kernels(),
                                     .rows = product.rows,
                                     .operands = product.operands,
                                     .epilogue = product.epilogue,
                                     .y = product.y,
                                     .ld = product.weight.outputs()});
  }

  void multiply_to_operands(const LinearProduct& product, std::byte* out) override {
    multiply(product);
    const std::size_t outputs = product.weight.outputs();
    for (std::size_t i = 0; i < product.rows; ++i) {
      write_operands(product.y + i * outputs, outputs, out + i * row_bytes(outputs));
    }
  }

  void add_rounding_error(const LinearProduct& product, const float* rows) override {
    if (type_ != ComputeType::kInt8) return;
    const std::size_t depth = product.weight.depth();
    const std::size_t bytes = row_bytes(depth);
    errors_.resize(depth);
    if (operands_.size() < product.rows * bytes) operands_.resize(product.rows * bytes);
    for (std::size_t i = 0; i < product.rows; ++i) {
      rounding_error(rows + i * depth, depth, product.operands + i * bytes, errors_.data());
      write_operands(errors_.data(), depth, operands_.data() + i * bytes);
    }
    LinearProduct second = product;
    second.operands = operands_.data();
    second.epilogue = {.residual = product.y};
    multiply(second);
  }

  std::size_t memory_bytes() const noexcept override {
    return errors_.capacity() * sizeof(float) + operands_.capacity();
  }

 private:
  const ComputeType type_;
  const Kernels& kernels_;
  std::vector<float> errors_;
  std::vector<std::byte> operands_;
};

class AcceleratedMultiplier final : public RowMultiplier {
 public:
  using Then = accelerator::WeightProduct::Then;

  AcceleratedMultiplier(const std::shared_ptr<accelerator::WeightStore>& store, const Kernels& kernels)
      : kernels_(kernels), operand_(accelerator::operand_size(store.get())), multiplier_(store, 1) {}

  std::size_t block_rows() const noexcept override { return 192; }
  std::size_t row_bytes(std::size_t depth) const noexcept override { return depth * operand_; }
  void write_operands(const float* row, std::size_t depth, std::byte* out) const override {
    if (operand_ == sizeof(float)) {
      std::memcpy(out, row, depth * sizeof(float));
    } else {
      kernels_.round_to_bfloat16(row, depth, reinterpret_cast<std::uint16_t*>(out));
    }
  }

  void multiply(const LinearProduct& product) override {
    const Epilogue& epilogue = product.epilogue;
    const bool in_place = epilogue.residual != nullptr && epilogue.residual == product.y && epilogue.activation < 0;
    run(product, in_place ? Then::kAdd : activation_of(epilogue), product.y, false);
    if (epilogue.residual == nullptr || in_place) return;
    const std::size_t values = product.rows * product.weight.outputs();
    for (std::size_t i = 0; i < values; ++i) product.y[i] += epilogue.residual[i];
  }

  void multiply_to_operands(const LinearProduct& product, std::byte* out) override {
    run(product, activation_of(product.epilogue), out, true);
  }

  void add_rounding_error(const LinearProduct& /*product*/, const float* /*rows*/) override {}
  std::size_t memory_bytes() const noexcept override { return multiplier_.memory_bytes(); }

 private:
  static Then activation_of(const Epilogue& epilogue) {
    switch (epilogue.activation) {
      case static_cast<int>(Activation::kRelu):
        return Then::kRelu;
      case static_cast<int>(Activation::kSwish):
        return Then::kSilu;
      case static_cast<int>(Activation::kGeluTanh):
        return Then::kGelu;
      default:
        return Then::kNothing;
    }
  }

  void run(const LinearProduct& product, Then then, void* result, bool as_operands) {
    multiplier_.multiply({.weight = *product.weight.for_accelerator(),
                          .rows = static_cast<std::int64_t>(product.rows),
                          .left = product.operands,
                          .bias = product.epilogue.bias,
                          .then = then,
                          .result = result,
                          .as_operands = as_operands});
  }

  const Kernels& kernels_;
  const std::size_t operand_;
  accelerator::Multiplier multiplier_;
};

}  // namespace

std::unique_ptr<RowMultiplier> make_row_multiplier(const ProductFormat& format, const Kernels& kernels) {
  if (format.accelerator) return std::make_unique<AcceleratedMultiplier>(format.accelerator, kernels);
  return std::make_unique<KernelMultiplier>(format.type, kernels);
}

}  // namespace verbatim::transformer

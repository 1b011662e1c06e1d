#include "transformer/cpu/linear_weight.h"

#include <span>
#include <utility>
#include <vector>

namespace verbatim::transformer {
namespace {

accelerator::PackedWeight pack_for_accelerator(const MatrixView& source, const accelerator::WeightStore& store) {
  std::vector<float> rows(source.rows * source.columns);
  for (std::size_t i = 0; i < source.rows; ++i) {
    source.read_row(i, std::span(rows).subspan(i * source.columns, source.columns));
  }
  return {store, static_cast<std::int64_t>(source.columns), static_cast<std::int64_t>(source.rows), rows.data()};
}

}  // namespace

ProductFormat accelerated_format(std::shared_ptr<accelerator::WeightStore> store) {
  const bool is_float32 = accelerator::operand_size(store.get()) == sizeof(float);
  return {is_float32 ? ComputeType::kFloat32 : ComputeType::kBfloat16, std::move(store)};
}

ProductFormat choose_format(AcceleratorMode mode, std::string_view compute) {
  if (mode == AcceleratorMode::kAuto && compute == "int8") return {ComputeType::kInt8, nullptr};
  auto store = accelerator::make_weight_store(compute == "float32" ? AcceleratorMode::kFloat32 : mode);
  return store ? accelerated_format(std::move(store)) : ProductFormat{ComputeType::kFloat32, nullptr};
}

std::string format_name(const ProductFormat& format) {
  if (format.accelerator) return accelerator::name(format.accelerator.get());
  return std::string(compute_type_name(format.type)) + " kernels (" + kernels().name + ")";
}

LinearWeight::LinearWeight(const MatrixView& source, const ProductFormat& format, WeightMemory& memory) {
  if (format.accelerator) {
    packed_ = pack_for_accelerator(source, *format.accelerator);
  } else {
    packed_ = PackedMatrix(source, format.type, memory);
  }
}

std::size_t LinearWeight::memory_bytes(const MatrixView& source, const ProductFormat& format) noexcept {
  return format.accelerator ? 0 : PackedMatrix::bytes(source, format.type);
}

std::size_t LinearWeight::outputs() const noexcept {
  const auto* const accelerated = for_accelerator();
  return accelerated != nullptr ? static_cast<std::size_t>(accelerated->outputs()) : for_kernels()->outputs();
}

std::size_t LinearWeight::depth() const noexcept {
  const auto* const accelerated = for_accelerator();
  return accelerated != nullptr ? static_cast<std::size_t>(accelerated->inputs()) : for_kernels()->depth();
}

std::size_t LinearWeight::own_bytes() const noexcept {
  const auto* const accelerated = for_accelerator();
  return accelerated != nullptr ? accelerated->bytes() : 0;
}

}  // namespace verbatim::transformer

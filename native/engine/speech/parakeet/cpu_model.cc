#include "speech/parakeet/cpu_model.h"

#include <utility>

#include "device.h"
#include "speech/model_source.h"
#include "speech/parakeet/cpu_slot.h"
#include "speech/parakeet/describe.h"

namespace verbatim::parakeet {
namespace {

// Refuses a model without enough free memory before anything is packed.
ModelReader read_with_room(const std::filesystem::path& path, const transformer::ProductFormat& format) {
  ModelReader reader(path);
  check_room(find_device("cpu"), packed_weight_bytes(reader.info().shape, format));
  return reader;
}

std::size_t value_bytes(transformer::ComputeType type) {
  if (type == transformer::ComputeType::kInt8) return 1;
  return type == transformer::ComputeType::kFloat32 ? 4 : 2;
}

}  // namespace

std::uint64_t packed_weight_bytes(const ModelShape& shape, const transformer::ProductFormat& format) {
  return count_values(shape) * value_bytes(format.type);
}

std::shared_ptr<const CpuModel> CpuModel::load(const std::filesystem::path& path,
                                               const transformer::ProductFormat& format) {
  return std::make_shared<const CpuModel>(Private{}, path, format);
}

CpuModel::CpuModel(Private, const std::filesystem::path& path, const transformer::ProductFormat& format)
    : reader_(read_with_room(path, format)),
      mel_(file().mel_filters, file().window, file().shape.mels, file().shape.fft),
      encoder_(reader_, format),
      transducer_(reader_, format),
      info_(describe(file(), find_device("cpu"))) {
  info_.accelerator = transformer::format_name(format);
  info_.memory_bytes = encoder_.bytes() + transducer_.bytes();
  reader_.drop_pages();
}

double CpuModel::longest_window_seconds() const noexcept { return parakeet::longest_window_seconds(file().shape); }

std::unique_ptr<WindowSlot> CpuModel::make_slot(int threads) const {
  return std::make_unique<CpuSlot>(shared_from_this(), threads);
}

}  // namespace verbatim::parakeet

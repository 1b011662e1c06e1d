#include "speech/parakeet/accelerated_model.h"

#include <utility>

#include "device.h"
#include "speech/model_source.h"
#include "speech/parakeet/accelerated_slot.h"
#include "speech/parakeet/describe.h"

namespace verbatim::parakeet {
namespace {

using transformer::ComputeType;

// The type of the kernels' own products for such a store.
ComputeType type_beside(const accelerator::WeightStore& store) {
  return accelerator::operand_size(&store) == sizeof(float) ? ComputeType::kFloat32 : ComputeType::kBfloat16;
}

// Refuses a model without enough free memory before anything is packed. Packed weights are not quantized, whatever the
// file's type.
ModelReader read_with_room(const std::filesystem::path& path, const accelerator::WeightStore& store) {
  ModelReader reader(path);
  check_room(find_device("cpu"), packed_weight_bytes(reader.info().shape, store));
  return reader;
}

}  // namespace

std::uint64_t packed_weight_bytes(const ModelShape& shape, const accelerator::WeightStore& store) {
  return count_values(shape) * accelerator::operand_size(&store);
}

std::shared_ptr<const AcceleratedModel> AcceleratedModel::load(const std::filesystem::path& path,
                                                               std::shared_ptr<accelerator::WeightStore> store) {
  return std::make_shared<const AcceleratedModel>(Private{}, path, std::move(store));
}

AcceleratedModel::AcceleratedModel(Private, const std::filesystem::path& path,
                                   std::shared_ptr<accelerator::WeightStore> store)
    : store_(std::move(store)),
      reader_(read_with_room(path, *store_)),
      mel_(file().mel_filters, file().window, file().shape.mels, file().shape.fft),
      encoder_(reader_, store_),
      transducer_(reader_, *store_, type_beside(*store_)),
      info_(describe(file(), find_device("cpu"))) {
  info_.accelerator = accelerator::name(store_.get());
  info_.memory_bytes = encoder_.bytes() + transducer_.bytes();
  reader_.drop_pages();
}

double AcceleratedModel::longest_window_seconds() const noexcept {
  return parakeet::longest_window_seconds(file().shape);
}

std::unique_ptr<WindowSlot> AcceleratedModel::make_slot(int threads) const {
  return std::make_unique<AcceleratedSlot>(shared_from_this(), threads);
}

}  // namespace verbatim::parakeet

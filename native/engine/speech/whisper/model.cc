#include "speech/whisper/model.h"

#include <string>

#include "device.h"
#include "error.h"
#include "speech/whisper/decoder_weights.h"
#include "speech/whisper_log.h"

namespace verbatim::whisper {
namespace {

// What the system refuses it refuses too late: a CPU's memory is overcommitted. So the room is looked at
// first.
void check_room(const DeviceInfo& device, std::uint64_t needed) {
  if (needed <= device.memory_bytes) return;
  throw EngineError(ErrorCode::kOutOfMemory, "the model needs " + std::to_string(needed >> 20) + " MiB, " +
                                                 device.id + " has " +
                                                 std::to_string(device.memory_bytes >> 20) + " MiB");
}

}  // namespace

std::shared_ptr<const Model> Model::load(const std::filesystem::path& path, AcceleratorMode accelerator) {
  capture_whisper_log();
  return std::make_shared<const Model>(Private{}, path, accelerator);
}

Model::Model(Private, const std::filesystem::path& path, AcceleratorMode accelerator)
    : reader_(path),
      vocabulary_(reader_.vocabulary(), reader_.info().shape.vocabulary),
      mel_filters_(reader_.mel_filters()),
      decoder_(read_decoder(reader_)),
      accelerator_(accelerator::make_weight_store(accelerator)) {
  const DeviceInfo device = find_device("cpu");
  check_room(device, reader_.info().weight_bytes);
  WeightPlacement placement;
  placement.buffers = ggml_backend_cpu_buffer_type();
  placement.accelerator = accelerator_;
  placement.as_float32 = accelerator == AcceleratorMode::kFloat32;
  encoder_ = std::make_unique<const EncoderWeights>(reader_, placement);
  reader_.drop_pages();
  info_ = describe_model(reader_.info(), device);
  info_.accelerator = accelerator::name(accelerator_.get());
  info_.memory_bytes = encoder_->bytes();
}

}  // namespace verbatim::whisper

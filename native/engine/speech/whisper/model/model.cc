#include "speech/whisper/model/model.h"

#include <cstddef>
#include <string>

#include "error.h"
#include "speech/whisper/model/decoder_weights.h"
#include "speech/whisper_log.h"
#include "transformer/gpu/executor.h"

namespace verbatim::whisper {
namespace {

// Bytes that a model may take: a GPU's free memory; all of a CPU's, since the system overcommits.
std::uint64_t room_on(const DeviceInfo& device, ggml_backend_dev_t graphs) {
  if (device.id == "cpu") return device.memory_bytes;
  std::size_t free = 0;
  std::size_t total = 0;
  ggml_backend_dev_memory(graphs, &free, &total);
  return free;
}

// A CPU's memory is overcommitted, so that a failure would come too late. The free memory is therefore checked first.
void check_room(const DeviceInfo& device, std::uint64_t room, std::uint64_t needed) {
  if (needed <= room) return;
  throw EngineError(ErrorCode::kOutOfMemory, "the model needs " + std::to_string(needed >> 20) + " MiB, " + device.id +
                                                 " has " + std::to_string(room >> 20) + " MiB");
}

}  // namespace

std::shared_ptr<const Model> Model::load(const std::filesystem::path& path, AcceleratorMode accelerator) {
  capture_whisper_log();
  return std::make_shared<const Model>(Private{}, path, accelerator, find_device("cpu"), nullptr);
}

std::shared_ptr<const Model> Model::load_graphs(const std::filesystem::path& path, std::string_view device,
                                                bool as_float32) {
  capture_whisper_log();
  const DeviceInfo target = find_device(device);
  return std::make_shared<const Model>(Private{}, path, as_float32 ? AcceleratorMode::kFloat32 : AcceleratorMode::kOff,
                                       target, transformer::backend_device_of(target.id));
}

Model::Model(Private, const std::filesystem::path& path, AcceleratorMode accelerator, const DeviceInfo& device,
             ggml_backend_dev_t graphs)
    : reader_(path),
      vocabulary_(reader_.vocabulary(), reader_.info().shape.vocabulary),
      mel_filters_(reader_.mel_filters()),
      decoder_(read_decoder(reader_)),
      graph_device_(graphs),
      accelerator_(graphs == nullptr ? accelerator::make_weight_store(accelerator) : nullptr) {
  check_room(device, room_on(device, graphs), reader_.info().weight_bytes);
  WeightPlacement placement;
  placement.device = graphs;
  placement.buffers = graphs == nullptr ? ggml_backend_cpu_buffer_type() : ggml_backend_dev_buffer_type(graphs);
  placement.accelerator = accelerator_;
  placement.as_float32 = accelerator == AcceleratorMode::kFloat32;
  encoder_ = std::make_unique<const EncoderWeights>(reader_, placement);
  reader_.drop_pages();
  info_ = describe_model(reader_.info(), device);
  info_.accelerator = accelerator::name(accelerator_.get());
  info_.memory_bytes = encoder_->bytes();
}

}  // namespace verbatim::whisper

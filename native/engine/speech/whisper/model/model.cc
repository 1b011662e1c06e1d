#include "speech/whisper/model/model.h"

#include <cstddef>
#include <string>
#include <utility>

#include "backend_devices.h"
#include "error.h"
#include "speech/whisper/model/decoder_weights.h"
#include "speech/whisper_log.h"
#include "transformer/kernels/kernels.h"

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

// Weights of the accelerator are not kept in the cache.
std::unique_ptr<const CpuEncoderWeights> load_encoder(const ModelReader& reader,
                                                      const transformer::ProductFormat& format,
                                                      transformer::WeightCache& cache) {
  const auto pack = [&](transformer::WeightMemory memory) {
    return std::make_unique<const CpuEncoderWeights>(reader, format, std::move(memory));
  };
  const std::size_t bytes = CpuEncoderWeights::memory_bytes(reader.info().shape, format);
  if (format.accelerator) return pack(transformer::WeightMemory(bytes));
  return cache.load<CpuEncoderWeights>({"encoder", format.type, bytes}, reader.file(), pack);
}

}  // namespace

// What computes the encoder: products of a format, or graphs on the CPU or on a device.
struct Model::Placement {
  DeviceInfo device;
  std::optional<transformer::ProductFormat> format;
  // Of the format's weights; null without a format.
  transformer::WeightCache* cache = nullptr;
  // The device of graphs; null for the CPU.
  ggml_backend_dev_t graphs = nullptr;
  // Of graphs.
  bool as_float32 = false;
};

std::shared_ptr<const Model> Model::load(const std::filesystem::path& path, AcceleratorMode accelerator) {
  if (accelerator != AcceleratorMode::kOff) return load(path, transformer::choose_format(accelerator, "auto"));
  capture_whisper_log();
  return std::make_shared<const Model>(Private{}, path, Placement{.device = find_device("cpu"), .format = {}});
}

std::shared_ptr<const Model> Model::load(const std::filesystem::path& path, const transformer::ProductFormat& format,
                                         transformer::WeightCache& cache) {
  capture_whisper_log();
  return std::make_shared<const Model>(Private{}, path,
                                       Placement{.device = find_device("cpu"), .format = format, .cache = &cache});
}

std::shared_ptr<const Model> Model::load(const std::filesystem::path& path, const transformer::ProductFormat& format) {
  transformer::WeightCache none;
  return load(path, format, none);
}

std::shared_ptr<const Model> Model::load_graphs(const std::filesystem::path& path, std::string_view device,
                                                bool as_float32) {
  capture_whisper_log();
  const DeviceInfo target = find_device(device);
  return std::make_shared<const Model>(Private{}, path,
                                       Placement{.device = target,
                                                 .format = {},
                                                 .graphs = open_backend_device(target.id, as_float32),
                                                 .as_float32 = as_float32});
}

std::shared_ptr<const Model> Model::load_kernels(const std::filesystem::path& path, transformer::ComputeType type) {
  return load(path, transformer::ProductFormat{type, nullptr});
}

Model::Model(Private, const std::filesystem::path& path, const Placement& wanted)
    : reader_(path),
      vocabulary_(reader_.vocabulary(), reader_.info().shape.vocabulary),
      mel_filters_(reader_.mel_filters()),
      decoder_(read_decoder(reader_)),
      graph_device_(wanted.graphs) {
  check_room(wanted.device, room_on(wanted.device, wanted.graphs), reader_.info().weight_bytes);
  info_ = describe_model(reader_.info(), wanted.device);
  if (wanted.format) {
    cpu_encoder_ = load_encoder(reader_, *wanted.format, *wanted.cache);
    info_.accelerator = transformer::format_name(*wanted.format);
    info_.memory_bytes = cpu_encoder_->bytes();
  } else {
    WeightPlacement placement;
    placement.device = wanted.graphs;
    placement.buffers =
        wanted.graphs == nullptr ? ggml_backend_cpu_buffer_type() : ggml_backend_dev_buffer_type(wanted.graphs);
    placement.as_float32 = wanted.as_float32;
    encoder_ = std::make_unique<const EncoderWeights>(reader_, placement);
    info_.memory_bytes = encoder_->bytes();
  }
  reader_.drop_pages();
}

}  // namespace verbatim::whisper

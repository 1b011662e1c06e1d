#pragma once

#include <ggml-backend.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "accelerator/accelerator.h"
#include "device.h"
#include "speech/model_info.h"
#include "speech/whisper/model/cpu_encoder_weights.h"
#include "speech/whisper/model/encoder_weights.h"
#include "speech/whisper/model/model_reader.h"
#include "speech/whisper/model/vocabulary.h"
#include "transformer/compute_type.h"
#include "transformer/cpu/weight_cache.h"
#include "transformer/transformer.h"

namespace verbatim::whisper {

// A Whisper file for this engine's encoder and decoder. It loads the encoder's weights; users of the decoder pack the
// decoder's weights themselves. Immutable, safe to use from many threads.
class Model {
  struct Private {};

 public:
  // Loads onto the CPU. With kOff, ggml's graphs compute the encoder with the weights as stored. Otherwise the
  // accelerator computes its products; without one, this engine's kernels in float32. Throws EngineError kIoError,
  // kInvalidModel, kOutOfMemory, kInternalError.
  static std::shared_ptr<const Model> load(const std::filesystem::path& path, AcceleratorMode accelerator);
  // Loads onto the CPU for products of a format. Weights for this engine's kernels come from the cache. Throws
  // EngineError as load() does.
  static std::shared_ptr<const Model> load(const std::filesystem::path& path, const transformer::ProductFormat& format,
                                           transformer::WeightCache& cache);
  static std::shared_ptr<const Model> load(const std::filesystem::path& path, const transformer::ProductFormat& format);
  // Loads for ggml's graphs on a device of find_device(), "cpu" included. Weights keep their stored type if the device
  // multiplies it, else they become float16; or all become float32. Throws EngineError as load() does, and
  // kDeviceUnavailable, kInvalidArgument for the device.
  static std::shared_ptr<const Model> load_graphs(const std::filesystem::path& path, std::string_view device,
                                                  bool as_float32);
  // Loads onto the CPU for this engine's own kernels. type: of the encoder, kInt8 or kFloat32. Throws EngineError as
  // load() does.
  static std::shared_ptr<const Model> load_kernels(const std::filesystem::path& path, transformer::ComputeType type);
  // Called by the functions above only.
  struct Placement;
  Model(Private, const std::filesystem::path& path, const Placement& placement);

  // info().memory_bytes: bytes of the encoder's weights.
  const SpeechModelInfo& info() const noexcept { return info_; }
  const ModelShape& shape() const noexcept { return reader_.info().shape; }
  const Vocabulary& vocabulary() const noexcept { return vocabulary_; }
  // float32 [mels][201].
  const std::vector<float>& mel_filters() const noexcept { return mel_filters_; }
  // The decoder as views of the file, to be packed once. Its embeddings stay in the file and are looked up there; call
  // drop_pages() when the rest is packed.
  const transformer::Transformer& decoder() const noexcept { return decoder_; }
  void drop_pages() const noexcept { reader_.drop_pages(); }
  const MappedFile& file() const noexcept { return reader_.file(); }

  // For encoders only. Weights for graphs, of load_graphs() and of load() with kOff.
  const EncoderWeights& encoder_weights() const noexcept { return *encoder_; }
  // Weights for CpuEncoder, unless graphs compute the encoder; else null.
  const CpuEncoderWeights* cpu_encoder_weights() const noexcept { return cpu_encoder_.get(); }
  // The device of load_graphs(); else null.
  ggml_backend_dev_t graph_device() const noexcept { return graph_device_; }

 private:
  ModelReader reader_;
  Vocabulary vocabulary_;
  std::vector<float> mel_filters_;
  transformer::Transformer decoder_;
  ggml_backend_dev_t graph_device_;
  std::unique_ptr<const EncoderWeights> encoder_;
  std::unique_ptr<const CpuEncoderWeights> cpu_encoder_;
  SpeechModelInfo info_;
};

}  // namespace verbatim::whisper

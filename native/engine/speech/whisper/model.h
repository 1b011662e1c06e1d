#pragma once

#include <ggml-backend.h>

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "accelerator/accelerator.h"
#include "device.h"
#include "speech/model_info.h"
#include "speech/whisper/encoder_weights.h"
#include "speech/whisper/model_reader.h"
#include "speech/whisper/vocabulary.h"
#include "transformer/transformer.h"

namespace verbatim::whisper {

// A Whisper file for our own encoder and decoder: the encoder's weights loaded, the decoder's to be packed by
// whoever runs it. Immutable, so safe to use from many threads.
class Model {
  struct Private {};

 public:
  // On the CPU. kOff: the encoder's products are ggml's, of weights as they are stored; else the
  // accelerator's where there is one, and where there is none kFloat32 makes them float32. Throws EngineError
  // kIoError, kInvalidModel, kOutOfMemory, kInternalError.
  static std::shared_ptr<const Model> load(const std::filesystem::path& path, AcceleratorMode accelerator);
  // As ggml's graphs on a device of find_device(), "cpu" too: weights as they are stored where the device
  // multiplies that type, else in float16; or all of them in float32. Throws EngineError as load() does, and
  // kDeviceUnavailable, kInvalidArgument for the device.
  static std::shared_ptr<const Model> load_graphs(const std::filesystem::path& path, std::string_view device,
                                                  bool as_float32);
  // load() and load_graphs() make models. graphs: null for load().
  Model(Private, const std::filesystem::path& path, AcceleratorMode accelerator, const DeviceInfo& device,
        ggml_backend_dev_t graphs);

  // memory_bytes: of the encoder's weights.
  const SpeechModelInfo& info() const noexcept { return info_; }
  const ModelShape& shape() const noexcept { return reader_.info().shape; }
  const Vocabulary& vocabulary() const noexcept { return vocabulary_; }
  // float32 [mels][201].
  const std::vector<float>& mel_filters() const noexcept { return mel_filters_; }
  // The decoder, as views of the file: to be packed once. Its embeddings stay in the file and are looked up
  // there; drop_pages() when the rest is packed.
  const transformer::Transformer& decoder() const noexcept { return decoder_; }
  void drop_pages() const noexcept { reader_.drop_pages(); }

  // For encoders only; null without an accelerator.
  const EncoderWeights& encoder_weights() const noexcept { return *encoder_; }
  const std::shared_ptr<accelerator::WeightStore>& accelerator() const noexcept { return accelerator_; }
  // The device of load_graphs(); null for load().
  ggml_backend_dev_t graph_device() const noexcept { return graph_device_; }

 private:
  ModelReader reader_;
  Vocabulary vocabulary_;
  std::vector<float> mel_filters_;
  transformer::Transformer decoder_;
  ggml_backend_dev_t graph_device_;
  std::shared_ptr<accelerator::WeightStore> accelerator_;
  std::unique_ptr<const EncoderWeights> encoder_;
  SpeechModelInfo info_;
};

}  // namespace verbatim::whisper

#include "speech/load_recogniser.h"

#include <string>
#include <utility>

#include "audio/sample_rate.h"
#include "device.h"
#include "error.h"
#include "speech/decode_options.h"
#include "speech/whisper/decoder_batch.h"
#include "speech/whisper/mel.h"
#include "speech/whisper/model.h"
#include "speech/whisper/whisper_window.h"
#include "speech/whisper/window_encoder.h"
#include "speech/window_bounds.h"
#include "thread_count.h"
#include "transformer/cpu/decoder.h"
#include "transformer/cpu/weights.h"

namespace verbatim::whisper {
namespace {

using transformer::ComputeType;

ComputeType decoder_type(std::string_view compute) {
  if (compute == "auto") return ComputeType::kInt8;
  for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kBfloat16, ComputeType::kInt8}) {
    if (compute == transformer::compute_type_name(type)) return type;
  }
  throw EngineError(ErrorCode::kInvalidArgument,
                    "compute type \"" + std::string(compute) +
                        "\" is unknown; auto, int8, bfloat16 and float32 are allowed");
}

transformer::CacheTypes cache_types(ComputeType type) {
  return {.cross = type,
          .history = type == ComputeType::kFloat32 ? ComputeType::kFloat32 : ComputeType::kBfloat16};
}

DecodingModel decoding_model(const Model& model) {
  DecodingModel decoding;
  const ModelShape& shape = model.shape();
  decoding.tokens = model.vocabulary().special();
  const auto blank = model.vocabulary().find(" ");
  if (!blank) throw EngineError(ErrorCode::kInvalidModel, "the vocabulary has no token for a space");
  decoding.blank = *blank;
  decoding.languages = model.info().languages;
  decoding.text_positions = shape.text_context;
  decoding.time_stamps = knows_time_stamps(shape.text_layers, shape.vocabulary);
  return decoding;
}

class WhisperRecogniser final : public Recogniser {
 public:
  WhisperRecogniser(std::shared_ptr<const Model> model, ComputeType type)
      : model_(std::move(model)),
        decoding_(decoding_model(*model_)),
        mel_(model_->mel_filters(), model_->shape().mels),
        weights_(model_->decoder(), type),
        cache_types_(cache_types(type)),
        caches_(make_decoder()),
        info_(model_->info()) {
    model_->drop_pages();
    info_.memory_bytes += weights_.bytes();
  }

  const SpeechModelInfo& info() const noexcept override { return info_; }
  double longest_window_seconds() const noexcept override {
    return static_cast<double>(kLongestWindow) / kSampleRate;
  }

  std::shared_ptr<WindowInFlight> open(std::shared_ptr<const Window> window,
                                       const DecodeOptions& options) const override {
    check_decode_options(options, info_);
    if (window->samples.size() > kLongestWindow) {
      throw EngineError(ErrorCode::kInvalidArgument, "the window is longer than 30 seconds");
    }
    return std::make_shared<WhisperWindow>(decoding_, model_->vocabulary(), std::move(window), options);
  }

  std::unique_ptr<WindowEncoder> make_encoder(int threads) const override {
    require_thread_count(threads);
    return std::make_unique<WhisperEncoder>(model_, threads, mel_, *caches_);
  }

  std::unique_ptr<DecoderBatch> make_batch() const override {
    return std::make_unique<WhisperBatch>(make_decoder());
  }

 private:
  std::unique_ptr<transformer::Decoder> make_decoder() const {
    return transformer::make_cpu_decoder(model_->decoder(), weights_, cache_types_, transformer::kernels());
  }

  const std::shared_ptr<const Model> model_;
  const DecodingModel decoding_;
  const MelExtractor mel_;
  const transformer::CpuWeights weights_;
  const transformer::CacheTypes cache_types_;
  // Makes what encoders write and every batch reads; never takes a step.
  const std::unique_ptr<transformer::Decoder> caches_;
  SpeechModelInfo info_;
};

}  // namespace
}  // namespace verbatim::whisper

namespace verbatim {

std::shared_ptr<const Recogniser> load_recogniser(const std::filesystem::path& path, std::string_view device,
                                                  AcceleratorMode accelerator, std::string_view compute) {
  if (const DeviceInfo target = find_device(device); target.id != "cpu") {
    throw EngineError(ErrorCode::kInvalidArgument,
                      "the batched decoder runs on the cpu, not on " + target.id);
  }
  const transformer::ComputeType type = whisper::decoder_type(compute);
  if (type == transformer::ComputeType::kFloat32 && accelerator == AcceleratorMode::kAuto) {
    accelerator = AcceleratorMode::kFloat32;
  }
  return std::make_shared<whisper::WhisperRecogniser>(whisper::Model::load(path, accelerator), type);
}

}  // namespace verbatim

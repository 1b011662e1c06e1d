#include "speech/whisper/decoding/decoder_maker.h"

#include <utility>

#include "transformer/cache_types.h"
#include "transformer/cpu/decoder.h"
#include "transformer/cpu/weights.h"
#include "transformer/gpu/decoder.h"
#include "transformer/gpu/weights.h"

namespace verbatim::whisper {
namespace {

using transformer::CacheTypes;
using transformer::ComputeType;
using transformer::Decoder;
using transformer::Transformer;

using transformer::CpuWeights;
using transformer::WeightCache;

std::unique_ptr<const CpuWeights> load_weights(const Transformer& decoder, const MappedFile& file, ComputeType type,
                                               WeightCache& cache) {
  return cache.load<CpuWeights>({"decoder", type, CpuWeights::memory_bytes(decoder, type)}, file,
                                [&](transformer::WeightMemory memory) {
                                  return std::make_unique<const CpuWeights>(decoder, type, std::move(memory));
                                });
}

class CpuDecoderMaker final : public DecoderMaker {
 public:
  CpuDecoderMaker(const Transformer& decoder, const MappedFile& file, ComputeType type, WeightCache& cache)
      : decoder_(decoder),
        weights_(load_weights(decoder, file, type, cache)),
        cache_types_{.cross = type, .history = type == ComputeType::kFloat32 ? type : ComputeType::kBfloat16},
        caches_(make()) {}

  std::unique_ptr<Decoder> make() const override {
    return transformer::make_cpu_decoder(decoder_, *weights_, cache_types_, transformer::kernels());
  }
  Decoder& caches() const noexcept override { return *caches_; }
  std::size_t bytes() const noexcept override { return weights_->bytes(); }

 private:
  const Transformer& decoder_;
  const std::unique_ptr<const CpuWeights> weights_;
  const CacheTypes cache_types_;
  const std::unique_ptr<Decoder> caches_;
};

// On devices caches are float16 as in whisper.cpp, whatever the weights' type.
CacheTypes device_cache_types(ComputeType type) {
  const ComputeType kept = type == ComputeType::kFloat32 ? type : ComputeType::kFloat16;
  return {.cross = kept, .history = kept};
}

class DeviceDecoderMaker final : public DecoderMaker {
 public:
  DeviceDecoderMaker(const Transformer& decoder, ComputeType type, ggml_backend_dev_t device)
      : weights_(decoder, type, device),
        caches_(std::make_unique<transformer::GpuDecoder>(decoder, weights_, device_cache_types(type), device)) {}

  std::unique_ptr<Decoder> make() const override { return caches_->make_sibling(); }
  Decoder& caches() const noexcept override { return *caches_; }
  std::size_t bytes() const noexcept override { return weights_.bytes(); }

 private:
  const transformer::GpuWeights weights_;
  const std::unique_ptr<transformer::GpuDecoder> caches_;
};

}  // namespace

std::unique_ptr<const DecoderMaker> make_decoder_maker(const Transformer& decoder, const MappedFile& file,
                                                       ComputeType type, ggml_backend_dev_t device,
                                                       WeightCache& cache) {
  if (device == nullptr) return std::make_unique<const CpuDecoderMaker>(decoder, file, type, cache);
  return std::make_unique<const DeviceDecoderMaker>(decoder, type, device);
}

}  // namespace verbatim::whisper

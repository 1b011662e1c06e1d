#pragma once

#include <ggml-backend.h>

#include <cstddef>
#include <memory>

#include "mapped_file.h"
#include "transformer/compute_type.h"
#include "transformer/cpu/weight_cache.h"
#include "transformer/decoder.h"
#include "transformer/transformer.h"

namespace verbatim::whisper {

// The decoder's weights on one device, and a factory of decoders. Immutable, safe to use from many threads. Its
// decoders must not outlive it.
class DecoderMaker {
 public:
  virtual ~DecoderMaker() = default;
  // Throws EngineError kOutOfMemory.
  virtual std::unique_ptr<transformer::Decoder> make() const = 0;
  // A decoder that only makes caches: encoders write them and every decoder reads them. It never takes a step.
  virtual transformer::Decoder& caches() const noexcept = 0;
  // Bytes of the weights.
  virtual std::size_t bytes() const noexcept = 0;
};

// decoder: a view of the mapped file; both must outlive the maker. device: the ggml device whose graphs compute; null
// for the CPU's kernels, whose weights come from the cache. Throws EngineError kOutOfMemory.
std::unique_ptr<const DecoderMaker> make_decoder_maker(const transformer::Transformer& decoder, const MappedFile& file,
                                                       transformer::ComputeType type, ggml_backend_dev_t device,
                                                       transformer::WeightCache& cache);

}  // namespace verbatim::whisper

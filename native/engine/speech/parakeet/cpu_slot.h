#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "speech/parakeet/cpu_model.h"
#include "speech/parakeet/encoder.h"
#include "speech/parakeet/segments.h"
#include "speech/parakeet/transducer.h"
#include "speech/slot_model.h"

namespace verbatim::parakeet {

// Features, encoder and transducer; decodes one window at a time. Tokens and times are whisper.cpp's, up to rounding.
// An abort takes effect within a layer of the encoder, or before the transducer's next step.
class CpuSlot final : public WindowSlot {
 public:
  // Arguments and errors as in SlotModel::make_slot(). kernels: must outlive this.
  CpuSlot(std::shared_ptr<const CpuModel> model, int threads,
          const transformer::Kernels& kernels = transformer::kernels());

  WindowResult transcribe(const Window& window, const DecodeOptions& options, const AbortFlag* abort) override;
  std::size_t memory_bytes() const noexcept override;

 private:
  WindowResult decode(const Window& window, const DecodeOptions& options, const AbortFlag* abort);
  std::vector<TimedToken> timed(const std::vector<DecodedToken>& tokens) const;

  const std::shared_ptr<const CpuModel> model_;
  Encoder encoder_;
  Transducer transducer_;
};

}  // namespace verbatim::parakeet

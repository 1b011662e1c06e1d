#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "abort.h"
#include "speech/whisper/encoder_graph.h"
#include "speech/whisper/encoder_plan.h"
#include "speech/whisper/encoder_weights.h"
#include "speech/whisper/mel.h"
#include "speech/whisper/model.h"
#include "transformer/decoder.h"

namespace verbatim::whisper {

// One window on its way through an encoder. Between units nothing of it lies anywhere else.
class EncoderRun {
 public:
  // The frames from first_frame (0 or more) on, two for each of the positions (1 to 1500). `mel` must outlive
  // the first unit, `target`, which has that many positions, the run. Throws EngineError kInvalidArgument.
  EncoderRun(const Model& model, const MelSpectrogram& mel, int first_frame, int positions,
             transformer::CrossCache& target);

  // Every layer of the target is written.
  bool complete() const noexcept { return next_unit_ == unit_ends_.size(); }
  std::size_t units() const noexcept { return unit_ends_.size(); }
  int positions() const noexcept { return positions_; }
  std::size_t memory_bytes() const noexcept;

 private:
  friend class Encoder;

  const MelSpectrogram& mel_;
  int first_frame_;
  int positions_;
  transformer::CrossCache& target_;
  std::vector<EncoderStep> steps_;
  std::vector<std::size_t> unit_ends_;
  std::size_t next_unit_ = 0;
  // float32 [positions, d], there from the first unit to the last.
  GgmlPointer<ggml_context> context_;
  GgmlPointer<ggml_backend_buffer> buffer_;
  ggml_tensor* activation_ = nullptr;
};

// Buffers and threads that windows take turns in, a unit at a time. What a window computes does not depend on
// those between its units, to the last bit. One call at a time.
class Encoder {
 public:
  // threads: 1 to 256. Throws EngineError kInvalidArgument, kOutOfMemory.
  Encoder(std::shared_ptr<const Model> model, int threads);
  ~Encoder();

  // One unit; true when the run is complete. A run that is complete already stays so. Throws EngineError
  // kAborted (looked at before the unit), kOutOfMemory, kInternalError; the unit may then be tried again.
  bool advance(EncoderRun& run, const AbortFlag* abort);
  // Buffers of the longest window so far; the accelerator's own as estimated.
  std::size_t memory_bytes() const noexcept;

 private:
  void compute(EncoderRun& run);
  void set_mel(const EncoderRun& run, ggml_tensor* target);
  void run_unit(EncoderRun& run, const EncoderGraph& unit);
  void keep_cross(EncoderRun& run, int layer, const ggml_tensor& rows);

  std::shared_ptr<const Model> model_;
  int threads_;
  std::vector<GgmlPointer<ggml_backend>> backends_;
  GgmlPointer<ggml_backend_sched> scheduler_;
  std::vector<std::byte> graph_memory_;
  std::vector<float> frames_, staging_;
};

}  // namespace verbatim::whisper

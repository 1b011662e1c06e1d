#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "abort.h"
#include "speech/whisper/encoder/encoder_graph.h"
#include "speech/whisper/encoder/encoder_plan.h"
#include "speech/whisper/encoder/mel.h"
#include "speech/whisper/model/encoder_weights.h"
#include "speech/whisper/model/model.h"
#include "transformer/decoder.h"

namespace verbatim::whisper {

// The state of one window in the encoder. Between units no other object holds any of it.
class EncoderRun {
 public:
  // Encodes the frames from first_frame (0 or more) on, two for each of `positions` (1 to 1500). `mel` must outlive the
  // first unit; `target`, which has that many positions, must outlive the run. Throws EngineError kInvalidArgument.
  EncoderRun(const Model& model, const MelSpectrogram& mel, int first_frame, int positions,
             transformer::CrossCache& target);

  // True when every layer of the target is written.
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
  // float32 [positions, d], allocated from the first unit to the last.
  GgmlPointer<ggml_context> context_;
  GgmlPointer<ggml_backend_buffer> buffer_;
  ggml_tensor* activation_ = nullptr;
};

// Buffers and threads for windows that take turns, one unit at a time. A window's result does not depend on the other
// windows, to the last bit. One call at a time.
class Encoder {
 public:
  // threads: 1 to 256. Throws EngineError kInvalidArgument, kOutOfMemory.
  Encoder(std::shared_ptr<const Model> model, int threads);
  ~Encoder();

  // Runs one unit; returns true when the run is complete. A complete run stays so. Throws EngineError kAborted (checked
  // before the unit), kOutOfMemory, kInternalError; the unit may then be repeated.
  bool advance(EncoderRun& run, const AbortFlag* abort);
  // Bytes of the buffers for the longest window so far; the accelerator's own are estimated.
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

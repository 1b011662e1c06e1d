#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "abort.h"
#include "speech/whisper/encoder/encoder_plan.h"
#include "speech/whisper/encoder/mel.h"
#include "speech/whisper/model/model.h"
#include "transformer/decoder.h"

namespace verbatim::whisper {

// What an encoder keeps of a window from its first unit to its last.
class EncoderState {
 public:
  virtual ~EncoderState() = default;
  virtual std::size_t memory_bytes() const noexcept = 0;
};

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
  int first_frame() const noexcept { return first_frame_; }
  const MelSpectrogram& mel() const noexcept { return mel_; }
  transformer::CrossCache& target() const noexcept { return target_; }
  std::size_t memory_bytes() const noexcept { return state_ ? state_->memory_bytes() : 0; }

 private:
  friend class Encoder;

  const MelSpectrogram& mel_;
  int first_frame_;
  int positions_;
  transformer::CrossCache& target_;
  std::vector<EncoderStep> steps_;
  std::vector<std::size_t> unit_ends_;
  std::size_t next_unit_ = 0;
  std::unique_ptr<EncoderState> state_;
};

// Buffers and threads for windows that take turns, one unit at a time. A window's result does not depend on the other
// windows, to the last bit. One call at a time.
class Encoder {
 public:
  virtual ~Encoder() = default;

  // Runs one unit; returns true when the run is complete. A complete run stays so. Throws EngineError kAborted, checked
  // before the unit, which may then be repeated; kOutOfMemory, kInternalError, after which the run cannot go on.
  bool advance(EncoderRun& run, const AbortFlag* abort);
  // Threads of the following units, 1 to 256; a result does not depend on them, to the last bit. Frees the working
  // memory of threads beyond them. Throws EngineError kInvalidArgument.
  virtual void set_threads(int threads) = 0;
  // Bytes of the buffers for the longest window so far.
  virtual std::size_t memory_bytes() const noexcept = 0;

 private:
  virtual std::unique_ptr<EncoderState> begin(const EncoderRun& run) = 0;
  virtual void compute(const EncoderRun& run, std::span<const EncoderStep> steps, EncoderState& state) = 0;
};

// The encoder for the form in which the model holds its weights. threads: 1 to 256, until set_threads(). Throws
// EngineError kInvalidArgument, kOutOfMemory.
std::unique_ptr<Encoder> make_encoder(std::shared_ptr<const Model> model, int threads);

}  // namespace verbatim::whisper

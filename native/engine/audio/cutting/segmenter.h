#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "audio/cutting/window.h"
#include "audio/reader.h"

namespace verbatim {

class VoiceActivityModel;

// Limits of one call of a segmenter, so that a long file is split into many calls.
struct Effort {
  // Most audio without speech that is passed over, seconds.
  double silence_seconds = std::numeric_limits<double>::infinity();
  // Most audio that is read, seconds, rounded up to half a second.
  double read_seconds = std::numeric_limits<double>::infinity();
};

// Cuts a reader's stream into windows by a policy and keeps each window's place on the time line. With a voice activity
// model it drops audio without speech. Without one it drops stretches without signal: digital silence, or sound far
// below the speech level by a noise floor that it tracks. Memory: about two windows.
class Segmenter {
 public:
  // Throws EngineError kInvalidArgument for a policy out of range. Reader and model must outlive the segmenter.
  Segmenter(AudioReader& reader, const WindowPolicy& policy, const VoiceActivityModel* voice = nullptr);
  ~Segmenter();

  // Next window with speech, in order, never overlapping. Returns nothing at the end (at_end()), once silence was
  // passed over (position() has moved), and when the effort does not reach the window's end. Throws as
  // AudioReader::read and VoiceActivityModel::probabilities do.
  std::optional<Window> next(const Effort& effort = {});

  // True once next() has reached the end.
  bool at_end() const noexcept;

  // Samples (16 kHz) that were read and have been returned or dropped so far.
  std::int64_t position() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim

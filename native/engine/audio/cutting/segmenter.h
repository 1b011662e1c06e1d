#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "audio/cutting/window.h"
#include "audio/reader.h"

namespace verbatim {

class VoiceActivityModel;

// What one call of a segmenter may do, so that a long file is not one long call.
struct Effort {
  // Audio without speech that is passed over, seconds.
  double silence_seconds = std::numeric_limits<double>::infinity();
  // Audio that is read, to the next half second.
  double read_seconds = std::numeric_limits<double>::infinity();
};

// Cuts a reader's stream into windows by a policy and keeps each window's place on the time line. With a
// model of voice activity it drops what is not speech; without one stretches without signal (digital silence,
// or far below the speech level by a noise floor it tracks). Memory: about two windows.
class Segmenter {
 public:
  // Throws EngineError kInvalidArgument for a policy out of range. Reader and model must outlive the
  // segmenter.
  Segmenter(AudioReader& reader, const WindowPolicy& policy, const VoiceActivityModel* voice = nullptr);
  ~Segmenter();

  // Next window with speech, in order, never overlapping; nothing at the end (at_end()), once silence was
  // passed over (position() has moved), and when the effort does not reach to the window's end. Throws as
  // AudioReader::read and VoiceActivityModel::probabilities do.
  std::optional<Window> next(const Effort& effort = {});

  // Once next() has come to the end.
  bool at_end() const noexcept;

  // Samples consumed from the reader and either returned or dropped so far (at 16 kHz).
  std::int64_t position() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim

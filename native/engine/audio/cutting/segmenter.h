#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "audio/cutting/window.h"
#include "audio/reader.h"

namespace verbatim {

// Cuts a reader's stream into windows by a policy, drops stretches without signal (digital silence, or far
// below the speech level by a noise floor it tracks), and keeps each window's place on the time line. Memory:
// about two windows.
class Segmenter {
 public:
  // Throws EngineError kInvalidArgument for a policy out of range. The reader must outlive the segmenter.
  Segmenter(AudioReader& reader, const WindowPolicy& policy);
  ~Segmenter();

  // Next window with signal, in order, never overlapping; nothing at the end, and nothing after about
  // `patience_seconds` of audio without signal, so that a silent file is not one long call: at_end() tells
  // which.
  std::optional<Window> next(double patience_seconds = std::numeric_limits<double>::infinity());

  // True once next() has come to the end.
  bool at_end() const noexcept;

  // Samples consumed from the reader and either returned or dropped so far (at 16 kHz).
  std::int64_t position() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim

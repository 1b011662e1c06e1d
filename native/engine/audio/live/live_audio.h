#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "audio/live/live_options.h"
#include "audio/live/sample_format.h"

namespace verbatim {

class VoiceActivityModel;

// Samples of one signal that arrive piece by piece: they are resampled to 16 kHz as files are, split into utterances,
// and kept until they are discarded. The result does not depend on how the bytes are split into calls. One call at a
// time.
//
// Positions are in samples at 16 kHz from the start of the signal. Decisions are made for chunks of 32 ms, as soon as
// a chunk has arrived.
//
// Kept are: utterances from their first sample on, until they are discarded; silence since the last utterance only as
// far back as the next one may begin (about 0.6 s). Of anything longer than kMostKeptSeconds the oldest samples are
// dropped.
class LiveAudio {
 public:
  static constexpr int kMostKeptSeconds = 120;
  // The most audio of one call of push(), which takes some 20 ms.
  static constexpr int kMostPushedSeconds = 10;

  // `voice` may be null: then everything that rises above the noise floor is speech. Throws EngineError
  // kInvalidArgument for values out of range, kOutOfMemory.
  LiveAudio(const SampleFormat& format, const LiveOptions& options, const VoiceActivityModel* voice);
  ~LiveAudio();

  // Appends bytes; an incomplete frame is completed by the next call. Returns what has happened, in order. Throws
  // EngineError kInvalidArgument for more than kMostPushedSeconds, and as VoiceActivityStream::probabilities does: the
  // object must not be used any more then.
  LiveEvents push(std::span<const std::byte> bytes);

  // Ends the utterance with what has arrived, as a commit or the end of the signal does. No events if there is none.
  LiveEvents end_utterance();
  // Abandons the utterance: no event ends it, and its samples are dropped.
  void clear();

  // In force from the next chunk on. Throws EngineError kInvalidArgument for values out of range.
  void configure(const LiveOptions& options);

  // The samples so far. At a rate other than 16 kHz the resampler holds back up to 50 ms, below 16 kHz up to 120 ms.
  // Decisions do not wait for it: the start of an utterance may lie behind the position. The samples before a pause, a
  // cut and an end are there with the event.
  std::int64_t position() const noexcept;
  // Where the utterance that goes on begins, or its part behind the last cut. Nothing if there is none; without
  // detection there always is one.
  std::optional<std::int64_t> utterance_begin() const noexcept;
  // The oldest sample that is kept.
  std::int64_t kept_from() const noexcept;
  // The samples in [begin, end). Throws EngineError kInvalidArgument where they are not kept.
  std::vector<float> samples(std::int64_t begin, std::int64_t end) const;
  // Samples before this position are not needed any more. Positions beyond the end stand for the end.
  void discard_before(std::int64_t position);

  // Approximate.
  std::size_t memory_bytes() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim

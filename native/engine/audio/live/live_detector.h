#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "audio/cutting/level_meter.h"
#include "audio/cutting/voice_activity_model.h"
#include "audio/live/noise_floor.h"

namespace verbatim {

// The probability of speech in the chunks of one signal, by a voice activity model or by the level above the noise
// floor. The model does not run where it is not needed: while the level has stayed at the noise floor for 0.3 s outside
// of utterances. When the level rises, it runs over the last 0.3 s as well.
class LiveDetector {
 public:
  static constexpr int kChunkSamples = VoiceActivityModel::kFrameSamples;
  // Chunks before the current one that the model may have to run over.
  static constexpr std::size_t kLookBackChunks = 9;

  // `model` may be null. Throws as VoiceActivityModel::open.
  explicit LiveDetector(const VoiceActivityModel* model);

  // Looks at the level of the next chunk. `active`: it may belong to an utterance. Returns how many chunks must be
  // judged: 0, or the current one and those right before it, in order.
  std::size_t next(std::span<const float> chunk, bool active);
  // The next chunk to judge, which may be shorter only if it is the current one. `current`: the one of next(). Throws
  // as VoiceActivityStream::probabilities.
  float judge(std::span<const float> chunk, bool current);
  // Earlier chunks are not judged again.
  void start_over() noexcept { skipped_ = 0; }

 private:
  float above_floor() const noexcept;

  std::unique_ptr<VoiceActivityStream> voice_;
  LevelMeter meter_;
  NoiseFloor floor_;
  // dBFS of the current chunk.
  float level_ = 0;
  // Chunks at the noise floor until now, and chunks that the model has not seen.
  std::size_t calm_ = 0;
  std::size_t skipped_ = 0;
};

}  // namespace verbatim

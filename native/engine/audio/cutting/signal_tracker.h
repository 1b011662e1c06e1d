#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "audio/cutting/kept_frames.h"
#include "audio/cutting/level_meter.h"
#include "audio/cutting/speech_tracker.h"

namespace verbatim {

// Detects what rises above the background: tracks the level of a signal, its noise floor and its speech level.
//
// - The floor is the least mean over 100 ms within 6 s before and 2 s behind (a minimum statistic after R. Martin,
//   2001), without digital silence. It falls at once when the background becomes quieter. It never rises to the level
//   of speech, which dips between words.
// - The level of half a second is the one that a tenth of its frames exceed, so that clicks do not count. The local
//   speech level is the highest within 4 s before and 2 s behind. The lasting speech level falls by 3 dB per minute.
// - `low`: near the floor, or 30 dB below the local speech level.
// - `nothing`: digital silence; or near the floor and 20 dB below the lasting speech level (or below -45 dBFS); or
//   continuous noise, which stays close to the floor for 0.3 s beside sound that was 8 dB above it.
class SignalTracker final : public SpeechTracker {
 public:
  void push(std::span<const float> samples) override;
  void finish() override;
  // A frame is labelled 2 to 2.5 s behind the newest.
  const Frame& at(std::int64_t frame) const override { return frames_[frame].labels; }
  // For a labelled frame: it is not `nothing`, and is 4 dB above the floor.
  bool stands_out(std::int64_t frame) const { return frames_[frame].stands_out; }
  std::int64_t labelled() const noexcept override { return labelled_; }
  void discard_before(std::int64_t frame) override;

 private:
  struct Kept {
    Frame labels;
    float power;
    bool stands_out = false;
  };
  // Half a second.
  struct Block {
    float floor;
    float loud;
    float lasting_speech;
  };

  void close_block();
  void label_block(std::size_t block);
  float mean_level(std::int64_t frame, std::int64_t around) const;

  LevelMeter meter_;
  KeptFrames<Kept> frames_;
  std::int64_t labelled_ = 0;
  std::deque<Block> blocks_;
  std::int64_t first_block_ = 0;
  float lasting_speech_ = -120;
};

}  // namespace verbatim

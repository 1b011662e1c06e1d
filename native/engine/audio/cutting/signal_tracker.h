#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "audio/cutting/kept_frames.h"
#include "audio/cutting/level_meter.h"
#include "audio/cutting/speech_tracker.h"

namespace verbatim {

// Hears what stands out of the background: follows the level of a signal, its noise floor and its speech
// level.
//
// - The floor is the least mean over 100 ms of the 6 s before and the 2 s behind (a minimum statistic after
//   R. Martin, 2001), digital silence left out. So it follows at once when the background grows quieter, and
//   never rises to the level of speech, which dips between words.
// - The level of half a second is exceeded by a tenth of its frames, so that clicks do not count. The local
//   speech level is the highest of the 4 s before and the 2 s behind; the lasting one forgets 3 dB a minute.
// - `low`: near the floor, or 30 dB below the local speech level. `nothing`: digital silence, or near the
//   floor and 20 dB below the lasting speech level (or below -45), or noise that goes on: for 0.3 s hardly
//   above the floor, beside something that was 8 dB above it.
class SignalTracker final : public SpeechTracker {
 public:
  void push(std::span<const float> samples) override;
  void finish() override;
  // A frame is labelled 2 to 2.5 s behind the newest.
  const Frame& at(std::int64_t frame) const override { return frames_[frame].labels; }
  // Of a frame that is labelled: it is not `nothing`, and 4 dB above the floor.
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

#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace verbatim {

// Follows the level of a signal at 16 kHz in frames of 10 ms, its noise floor and its speech level, and says
// which frames are low and which hold nothing. All levels in dBFS of the mean square, hum and offset taken
// off.
//
// - The floor is the least mean over 100 ms of the 6 s before and the 2 s behind (a minimum statistic after
//   R. Martin, 2001), digital silence left out. So it follows at once when the background grows quieter, and
//   never rises to the level of speech, which dips between words.
// - The level of half a second is exceeded by a tenth of its frames, so that clicks do not count. The local
//   speech level is the highest of the 4 s before and the 2 s behind; the lasting one forgets 3 dB a minute.
class SignalTracker {
 public:
  static constexpr int kFrameSamples = 160;

  struct Frame {
    float level = 0;
    // A pause in what goes on around it: near the floor, or 30 dB below the local speech level.
    bool low = false;
    // No signal: digital silence, or near the floor and 20 dB below the lasting speech level (or below -45).
    bool nothing = false;
  };

  // One frame; only the last may be shorter.
  void push(std::span<const float> samples);
  // Nothing follows: labels the frames that still wait for what is behind them.
  void finish();

  // Frames [first_kept(), labelled()) can be read. A frame is labelled 2 to 2.5 s behind the newest.
  const Frame& at(std::int64_t frame) const { return frames_[static_cast<std::size_t>(frame - first_)]; }
  std::int64_t labelled() const noexcept { return labelled_; }
  void discard_before(std::int64_t frame);

 private:
  // Half a second.
  struct Block {
    float floor;
    float loud;
    float lasting_speech;
  };

  void close_block();
  void label_block(std::size_t block);

  float last_in_ = 0;
  float last_out_ = 0;
  std::deque<Frame> frames_;
  std::deque<float> powers_;
  std::int64_t first_ = 0;
  std::int64_t pushed_ = 0;
  std::int64_t labelled_ = 0;
  std::deque<Block> blocks_;
  std::int64_t first_block_ = 0;
  float lasting_speech_ = -120;
};

}  // namespace verbatim

#pragma once

#include <array>
#include <cstddef>

namespace verbatim {

// The level of the background, from earlier audio only: the least mean over three chunks (96 ms) in the last 6 s,
// without digital silence. It falls at once when the background becomes quieter.
class NoiseFloor {
 public:
  // The mean square of the next chunk of 32 ms.
  void push(float power);

  // dBFS; 0 while there was digital silence only.
  float level() const noexcept { return level_; }
  // Half a second of sound was seen.
  bool settled() const noexcept { return chunks_ >= kBlockChunks; }

 private:
  static constexpr std::size_t kMeanChunks = 3;
  static constexpr std::size_t kBlockChunks = 16;
  static constexpr std::size_t kBlocks = 12;

  std::array<float, kMeanChunks> powers_{};
  // Chunks with sound, and without interruption.
  std::size_t chunks_ = 0;
  std::size_t run_ = 0;
  // The least levels of the last blocks; the newest is not complete.
  std::array<float, kBlocks> least_{};
  std::size_t block_ = 0;
  float level_ = 0;
};

}  // namespace verbatim

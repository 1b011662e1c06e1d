#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace verbatim::whisper {

// Frequencies of a frame of 400 samples: 0 to 8000 Hz in steps of 40.
inline constexpr int kMelFrequencies = 201;
// Samples from one frame to the next: 10 ms.
inline constexpr int kMelHop = 160;
// Frames of padding behind the samples: 30 s, so that a pass from any point of a window has all its frames.
inline constexpr int kMelPadding = 3000;

// The log-mel spectrogram of a window for Whisper's encoder, about [-1.5, 2.5]. All padding has one value, so it takes
// no memory.
class MelSpectrogram {
 public:
  int bands() const noexcept { return bands_; }
  // Frames of the samples (whisper.cpp's n_len_org); with less than 11 Whisper decodes nothing.
  int frames_of_sound() const noexcept { return frames_of_sound_; }
  // Frames with the padding (whisper.cpp's n_len).
  int frames() const noexcept { return frames_; }
  // Writes the frames [first, first + count) to `out`, [bands][count]; frames past frames() are 0. first >= 0.
  void copy(int first, int count, float* out) const;
  std::size_t memory_bytes() const noexcept { return values_.capacity() * sizeof(float); }

 private:
  friend class MelExtractor;
  int bands_ = 0;
  int frames_ = 0;
  int frames_of_sound_ = 0;
  // Frames that are not padding alone.
  int stored_ = 0;
  std::vector<float> values_;  // [bands][stored_]
  float padding_ = 0.0f;
};

// Computes whisper.cpp's whisper_pcm_to_mel, within 1e-4, with a fast Fourier transform. Immutable, safe to use from
// many threads.
class MelExtractor {
 public:
  // filters: [bands][kMelFrequencies], as the model file has them.
  MelExtractor(std::vector<float> filters, int bands);

  // samples: mono, 16 kHz, [-1, 1], any number. NaNs become 0 and values far out of range are clipped, so that every
  // result is finite. Throws std::bad_alloc.
  MelSpectrogram spectrogram(std::span<const float> samples) const;

 private:
  // The frequencies [first, last) at which a band's weight is not 0.
  struct Support {
    int first = 0;
    int last = 0;
  };
  class Frames;

  void write_logarithms(const Frames& frames, MelSpectrogram& spectrogram) const;

  std::vector<float> filters_;
  std::vector<Support> supports_;  // [bands]
};

}  // namespace verbatim::whisper

#pragma once

#include <span>
#include <vector>

namespace verbatim::parakeet {

// Samples from one frame to the next: 10 ms.
inline constexpr int kMelHop = 160;

// Logarithms of a window's mel bands. Each band has mean 0 and variance 1 over the window.
struct MelSpectrogram {
  int frames = 0;
  int bands = 0;
  // [frames][bands]
  std::vector<float> values;
};

// Computes whisper.cpp's parakeet_pcm_to_mel, within 1e-3, with a fast Fourier transform. Immutable, safe to use from
// many threads.
class MelExtractor {
 public:
  // filters: [bands][fft / 2 + 1]. window: at most fft values, centred in a frame. fft: even.
  MelExtractor(std::vector<float> filters, std::vector<float> window, int bands, int fft);

  // samples: mono, 16 kHz, [-1, 1], two hops or more. NaNs become 0 and values far out of range are clipped. Returns
  // samples / kMelHop + 1 frames. Throws std::bad_alloc.
  MelSpectrogram spectrogram(std::span<const float> samples) const;

 private:
  // The frequencies [first, last) at which a band's weight is not 0.
  struct Support {
    int first = 0;
    int last = 0;
  };

  void write_logarithms(const std::vector<float>& padded, MelSpectrogram& spectrogram) const;

  int fft_;
  std::vector<float> filters_;
  std::vector<float> window_;      // [fft]
  std::vector<Support> supports_;  // [bands]
};

}  // namespace verbatim::parakeet

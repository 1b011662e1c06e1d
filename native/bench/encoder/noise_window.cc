#include "contestant.h"
#include "speech/random_models/noise.h"

namespace verbatim::bench {

MelWindow noise_window(int mels) {
  MelWindow window;
  window.mels = mels;
  window.values = random_models::noise(static_cast<std::size_t>(mels) * static_cast<std::size_t>(window.frames), 7);
  return window;
}

}  // namespace verbatim::bench

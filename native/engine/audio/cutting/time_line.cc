#include "audio/cutting/time_line.h"

namespace verbatim {

double TimeLine::place(double seconds, bool behind) const {
  std::int64_t skipped = 0;
  for (const Skip& skip : skips) {
    const double at = static_cast<double>(skip.at) / kSampleRate;
    if (seconds < at || (seconds == at && !behind)) break;
    skipped += skip.length;
  }
  return seconds + static_cast<double>(start_sample + skipped) / kSampleRate;
}

}  // namespace verbatim

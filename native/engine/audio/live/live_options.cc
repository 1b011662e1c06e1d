#include "audio/live/live_options.h"

#include "require_option.h"

namespace verbatim {

void check_live_options(const LiveOptions& options) {
  require_option(options.threshold >= 0 && options.threshold <= 1, "threshold", options.threshold, "0 to 1");
  require_option(options.prefix_padding_ms >= 0 && options.prefix_padding_ms <= 5000, "prefix_padding_ms",
                 options.prefix_padding_ms, "0 to 5000");
  require_option(options.silence_ms >= 100 && options.silence_ms <= 60000, "silence_ms", options.silence_ms,
                 "100 to 60000");
  require_option(options.pause_ms >= 0 && options.pause_ms <= 60000, "pause_ms", options.pause_ms, "0 to 60000");
  require_option(options.longest_seconds >= 1 && options.longest_seconds <= 30, "longest_seconds",
                 options.longest_seconds, "1 to 30");
  require_option(options.search_seconds > 0 && options.search_seconds <= options.longest_seconds, "search_seconds",
                 options.search_seconds, "above 0, up to longest_seconds");
}

}  // namespace verbatim

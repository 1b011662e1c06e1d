#include "audio/cutting/window_policy.h"

#include <string>

#include "error.h"

namespace verbatim {

void check_window_policy(const WindowPolicy& policy) {
  const auto refuse = [](const std::string& message) {
    throw EngineError(ErrorCode::kInvalidArgument, "window policy: " + message);
  };
  if (!(policy.max_seconds >= 0.1 && policy.max_seconds <= 30)) refuse("max_seconds must be 0.1 to 30");
  if (!(policy.search_seconds > 0 && policy.search_seconds <= policy.max_seconds)) {
    refuse("search_seconds must be above 0 and at most max_seconds");
  }
  const bool pauses = policy.cut == WindowPolicy::Cut::kPause;
  if (pauses && !(policy.min_pause_seconds > 0 && policy.min_pause_seconds < policy.max_seconds)) {
    refuse("min_pause_seconds must be above 0 and below max_seconds");
  }
}

}  // namespace verbatim

#pragma once

#include <doctest/doctest.h>

#include <optional>

#include "error.h"
#include "speech/whisper_cpp/slot.h"
#include "support/counting_abort.h"

namespace verbatim::test {

// The error of transcribe(); empty on success.
inline std::optional<ErrorCode> failure_of(Slot& slot, const Window& window, const DecodeOptions& options,
                                           const AbortFlag& abort) {
  try {
    slot.transcribe(window, options, &abort);
  } catch (const EngineError& error) {
    return error.code();
  }
  return std::nullopt;
}

// Aborts at every poll of a window except the last. The work polls after every step and ends at most one poll later.
// `as_new` then checks that the slot is as good as new.
template <typename AsNew>
void check_aborts(Slot& slot, const Window& window, DecodeOptions options, const AsNew& as_new) {
  options.best_of = 1;  // otherwise a step is one token of each candidate
  const CountingAbort never;
  const Timings whole = slot.transcribe(window, options, &never).timings;
  const int looks = never.looks();
  CHECK(whole.tokens > 40);
  CHECK(looks >= whole.tokens + whole.encoder_passes);
  for (const int at : {1, 2, 3, looks / 2, looks - 1}) {
    CAPTURE(at);
    CAPTURE(looks);
    const CountingAbort abort(at);
    CHECK(failure_of(slot, window, options, abort) == ErrorCode::kAborted);
    CHECK(abort.looks() <= at + 1);
    as_new();
  }
}

}  // namespace verbatim::test

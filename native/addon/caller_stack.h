#pragma once

#include "napi_setup.h"

namespace verbatim::addon {

// Where JS was when it made a call. An error made on completion has no JS frame below it, so its `stack` says
// nothing; grafting the caller's frames onto it names the line that asked for the work.
class CallerStack {
 public:
  // Captures the frames now; they are turned into text only if they are needed.
  explicit CallerStack(Napi::Env env);

  // Replaces the frames of the error's `stack`.
  void graft_onto(const Napi::Error& error) const;

 private:
  Napi::ObjectReference captured_;
};

}  // namespace verbatim::addon

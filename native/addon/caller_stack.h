#pragma once

#include "napi_setup.h"

namespace verbatim::addon {

// The JS stack at the time of a call. An error that is made on completion has no JS frames below it, so its `stack` is
// useless. The caller's frames name the line that started the work.
class CallerStack {
 public:
  // Captures the frames now; they become text only when needed.
  explicit CallerStack(Napi::Env env);

  // Replaces the frames of the error's `stack`.
  void graft_onto(const Napi::Error& error) const;

 private:
  Napi::ObjectReference captured_;
};

}  // namespace verbatim::addon

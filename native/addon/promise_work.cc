#include "promise_work.h"

namespace verbatim::addon {

bool can_run_js(Napi::Env env) {
  // Any call that may run JavaScript serves: Node-API refuses it while the environment is ending.
  bool found = false;
  return napi_has_named_property(env, env.Global(), "Promise", &found) == napi_ok;
}

Napi::Promise rejected(const Napi::Error& error) {
  const Napi::Promise::Deferred deferred(error.Env());
  deferred.Reject(error.Value());
  return deferred.Promise();
}

}  // namespace verbatim::addon

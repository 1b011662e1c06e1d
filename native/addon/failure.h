#pragma once

#include <string>
#include <utility>

#include "error.h"
#include "napi_setup.h"

namespace verbatim::addon {

// An exception as a value that can cross from a worker thread to the JS thread.
struct Failure {
  ErrorCode code = ErrorCode::kInternalError;
  std::string message;
};

// Describes the current exception; call it in a catch block. EngineError keeps its code, std::bad_alloc is
// kOutOfMemory, anything else kInternalError.
Failure current_failure();

// A JS Error with the failure's message and its stable name as `code`.
Napi::Error to_js_error(Napi::Env env, const Failure& failure);

// A JS TypeError with the code invalid_argument, for a value of a wrong type or one that is not allowed.
Napi::TypeError argument_error(Napi::Env env, const std::string& message);

// For a synchronous call: an exception of `call()` becomes the JS exception, with its code.
template <typename Call>
Napi::Value value_from(Napi::Env env, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const Napi::Error&) {
    throw;
  } catch (...) {
    throw to_js_error(env, current_failure());
  }
}

}  // namespace verbatim::addon

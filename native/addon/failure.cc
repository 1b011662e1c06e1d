#include "failure.h"

#include <exception>
#include <new>

namespace verbatim::addon {
namespace {

void set_code(const Napi::Error& error, ErrorCode code) {
  error.Value().Set("code", Napi::String::New(error.Env(), std::string(error_code_name(code))));
}

}  // namespace

Failure current_failure() {
  try {
    throw;
  } catch (const EngineError& error) {
    return {error.code(), error.what()};
  } catch (const std::bad_alloc&) {
    return {ErrorCode::kOutOfMemory, "There is not enough memory for this call."};
  } catch (const std::exception& error) {
    return {ErrorCode::kInternalError, error.what()};
  } catch (...) {
    return {ErrorCode::kInternalError, "A library threw something that is not an exception."};
  }
}

Napi::Error to_js_error(Napi::Env env, const Failure& failure) {
  const Napi::Error error = Napi::Error::New(env, failure.message);
  set_code(error, failure.code);
  return error;
}

Napi::TypeError argument_error(Napi::Env env, const std::string& message) {
  const Napi::TypeError error = Napi::TypeError::New(env, message);
  set_code(error, ErrorCode::kInvalidArgument);
  return error;
}

}  // namespace verbatim::addon

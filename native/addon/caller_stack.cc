#include "caller_stack.h"

#include <string>

namespace verbatim::addon {

CallerStack::CallerStack(Napi::Env env) : captured_(Napi::Persistent(Napi::Error::New(env, "").Value())) {}

void CallerStack::graft_onto(const Napi::Error& error) const {
  // Error.prepareStackTrace may have returned anything; only a text can be used.
  const Napi::Value captured = captured_.Get("stack");
  if (!captured.IsString()) return;
  const std::string frames = captured.As<Napi::String>();
  const std::size_t header_end = frames.find('\n');
  if (header_end == std::string::npos) return;
  const std::string header = error.Value().ToString();
  error.Value().Set("stack", header + frames.substr(header_end));
}

}  // namespace verbatim::addon

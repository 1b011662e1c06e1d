#pragma once

#include "audio/cutting/window.h"
#include "audio/reader.h"
#include "napi_setup.h"

namespace verbatim::addon {

// Reads WindowPolicy of the contract. Throws a JS TypeError that names the property.
WindowPolicy window_policy(Napi::Value policy);

// Makes AudioInfo of the contract.
Napi::Object to_js(Napi::Env env, const AudioInfo& info);

}  // namespace verbatim::addon

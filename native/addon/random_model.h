#pragma once

#include "napi_setup.h"

namespace verbatim::addon {

// writeRandomModel(path, options): Promise<void>
Napi::Value write_random_model(const Napi::CallbackInfo& info);

}  // namespace verbatim::addon

#pragma once

#include <string>
#include "audio/cutting/time_line.h"

#include "napi_setup.h"
#include "option_reader.h"
#include "speech/recogniser.h"

namespace verbatim::addon {

// A list of decoder heads, or a list of such lists. `name`: the argument's name. Throw a JS TypeError with the cause.
HeadSet head_set(Napi::Value value, const std::string& name);
std::vector<HeadSet> head_sets(Napi::Value value, const std::string& name);

// The property `alignmentHeads` of a model's options; empty if it is absent.
HeadSet alignment_heads(Napi::Value options);

// Make DecoderHeads and TextAlignment of the contract. Times are moved from the window's time line to the file's.
Napi::Object to_js(Napi::Env env, const DecoderHeads& heads);
Napi::Object to_js(Napi::Env env, const TextAlignment& alignment, const TimeLine& time_line);

}  // namespace verbatim::addon

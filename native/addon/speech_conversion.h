#pragma once

#include "accelerator/accelerator.h"
#include "audio/cutting/time_line.h"
#include "napi_setup.h"
#include "option_reader.h"
#include "speech/decode.h"
#include "speech/model_info.h"

namespace verbatim::addon {

// Reads the property `accelerator`, which may be absent. Throws a JS TypeError that names it.
void read_accelerator(const OptionReader& options, AcceleratorMode& out);

// Reads DecodeOptions of the contract. Throws a JS TypeError that names the property.
DecodeOptions decode_options(Napi::Value options);

// Makes WindowResult of the contract. The times of segments and words are moved from the window's time line to the
// file's. Bytes of a token that are not a whole UTF-8 character become U+FFFD; a segment's text is whole.
Napi::Object to_js(Napi::Env env, const WindowResult& result, const TimeLine& time_line);

// Makes SpeechModelInfo of the contract.
Napi::Object to_js(Napi::Env env, const SpeechModelInfo& info);

}  // namespace verbatim::addon

#pragma once

#include "napi_setup.h"
#include "speech/decode.h"
#include "speech/whisper_cpp/model.h"

namespace verbatim::addon {

// DecodeOptions of the contract. Throws a JS TypeError that names the property.
DecodeOptions decode_options(Napi::Value options);

// WindowResult of the contract: the segments' times are moved by `start_seconds`, from the window's time line
// to the file's. Bytes of a token that are no whole UTF-8 character become U+FFFD; a segment's text is whole.
Napi::Object to_js(Napi::Env env, const WindowResult& result, double start_seconds);

// SpeechModelInfo of the contract.
Napi::Object to_js(Napi::Env env, const SpeechModelInfo& info);

}  // namespace verbatim::addon

#pragma once

#include <cstddef>
#include <string>

#include "speech/decode.h"
#include "speech/model_info.h"

namespace verbatim {

// Throws EngineError kInvalidArgument naming the option, its value and what is allowed; kUnsupportedLanguage
// for a language that the model does not know.
void check_decode_options(const DecodeOptions& options, const SpeechModelInfo& model);

// Longest initial prompt: a thousand characters fit whatever they are, and the model looks at no more than
// the last 223 tokens.
inline constexpr std::size_t kMaxPromptBytes = 4096;

// whisper.cpp's id of a language code, or -1 if the model does not know it.
int language_id(const SpeechModelInfo& model, const std::string& code);

// Encoder positions (20 ms each) for a window: 0 for whisper.cpp's own 30 s, else enough for the window and
// kOwnLengthMargin, rounded up to a multiple of kOwnLengthStep, at most 1500.
//
// The step is not free to choose: with flash attention whisper.cpp pads keys and values to a multiple of 256
// without masking the padding, so at any other length it attends to zeros, or to whatever the slot's earlier
// windows left there (whisper.cpp's pull request 3941). No margin: on 80 sentences an earlier model
// got 8.3 % of the words wrong at the plain multiple, 9.1 % at 30 s and 9.1 % at multiples of 64 plus 0.64 s.
int audio_context(std::size_t samples, const DecodeOptions& options);
inline constexpr int kOwnLengthStep = 256;
inline constexpr int kOwnLengthMargin = 0;
inline constexpr int kFullAudioContext = 1500;

}  // namespace verbatim

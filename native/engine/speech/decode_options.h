#pragma once

#include <cstddef>
#include <string>

#include "speech/decode.h"
#include "speech/model_info.h"

namespace verbatim {

// Throws EngineError kInvalidArgument with the option, its value and what is allowed; kUnsupportedLanguage for a
// language that the model does not know.
void check_decode_options(const DecodeOptions& options, const SpeechModelInfo& model);

// Longest initial prompt, bytes. Any thousand characters fit; the model uses the last 223 tokens at most.
inline constexpr std::size_t kMaxPromptBytes = 4096;

// Longest prefix, bytes.
inline constexpr std::size_t kMaxPrefixBytes = 4096;

// whisper.cpp's id of a language code, or -1 if the model does not know it.
int language_id(const SpeechModelInfo& model, const std::string& code);

// Encoder positions (20 ms each) for a window. 0 stands for whisper.cpp's own 30 s. Otherwise enough for the window and
// kOwnLengthMargin, rounded up to a multiple of kOwnLengthStep, at most 1500.
//
// The step is fixed by whisper.cpp. With flash attention it pads keys and values to a multiple of 256 without masking
// the padding. At any other length it attends to zeros, or to what the slot's earlier windows left there (whisper.cpp's
// pull request 3941).
//
// The margin is 0: on 80 sentences an earlier model had a word error rate of 8.3 % at the plain multiple, 9.1 % at 30
// s, and 9.1 % at multiples of 64 plus 0.64 s.
int audio_context(std::size_t samples, const DecodeOptions& options);
inline constexpr int kOwnLengthStep = 256;
inline constexpr int kOwnLengthMargin = 0;
inline constexpr int kFullAudioContext = 1500;

}  // namespace verbatim

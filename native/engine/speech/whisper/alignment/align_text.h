#pragma once

#include <span>

#include "abort.h"
#include "speech/recogniser.h"
#include "speech/whisper/decoding/loaded_model.h"

namespace verbatim::whisper {

// Implements Recogniser::align_text(). model: the recogniser's info().
TextAlignment align_text(const LoadedModel& loaded, const SpeechModelInfo& model, const Window& window,
                         const KnownText& text, std::span<const HeadSet> sets, int threads, const AbortFlag* abort);

}  // namespace verbatim::whisper

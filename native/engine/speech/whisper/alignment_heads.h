#pragma once

#include <vector>

#include "speech/model_tensors.h"
#include "transformer/decoder.h"

namespace verbatim::whisper {

// The heads of cross-attention that words are aligned by: those that were given, in their order, or, for
// none, all heads of the upper half of the decoder's layers, where whisper.cpp and OpenAI look for them too;
// at most 64 of these, evenly spread, which bounds what a window holds. Throws EngineError kInvalidArgument
// for a head that the model does not have, and for one that is there twice.
std::vector<transformer::AttentionHead> alignment_heads(const ModelShape& shape,
                                                        std::vector<transformer::AttentionHead> given);

}  // namespace verbatim::whisper

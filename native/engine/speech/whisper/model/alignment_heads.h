#pragma once

#include <vector>

#include "speech/model_tensors.h"
#include "transformer/decoder.h"

namespace verbatim::whisper {

// The heads of cross-attention that words are aligned by: the given ones, in their order. For an empty list: all heads
// of the upper half of the decoder's layers, as in whisper.cpp and OpenAI's code. At most 64 of these are taken, evenly
// spread, which bounds the memory of a window. Throws EngineError kInvalidArgument for a head that the model does not
// have, and for a duplicate.
std::vector<transformer::AttentionHead> alignment_heads(const ModelShape& shape,
                                                        std::vector<transformer::AttentionHead> given);

}  // namespace verbatim::whisper

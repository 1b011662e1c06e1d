#pragma once

#include "speech/whisper/model_reader.h"
#include "transformer/transformer.h"

namespace verbatim::whisper {

// Whisper's decoder as the runtime wants it: an empty encoder, and of cross-attention the query and the
// output alone, since the keys and values are the encoder's to compute (encoder_weights.h). Every matrix is
// read from the file row by row when it is packed or looked up, and kept by nobody: `reader` must outlive the
// result.
transformer::Transformer read_decoder(const ModelReader& reader);

}  // namespace verbatim::whisper

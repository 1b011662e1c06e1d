#pragma once

#include "speech/whisper/model/model_reader.h"
#include "transformer/transformer.h"

namespace verbatim::whisper {

// Whisper's decoder for the transformer runtime, with an empty encoder. Cross-attention has only the query and the
// output, since the encoder computes keys and values (encoder_weights.h). Every matrix is read from the file row by row
// when it is packed or looked up, and is not kept. `reader` must outlive the result.
transformer::Transformer read_decoder(const ModelReader& reader);

}  // namespace verbatim::whisper

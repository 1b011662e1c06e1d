#pragma once

#include "transformer/transformer.h"
#include "translation/ct2/config.h"
#include "translation/ct2/file.h"

namespace verbatim::translation {

// Reads a CTranslate2 model and checks every name, revision and shape. Throws EngineError kInvalidModel: missing or
// unknown variables, wrong shapes, scales that are not positive numbers, unsupported features. `file` must outlive the
// result.
transformer::Transformer read_transformer(const Ct2File& file, const Ct2Config& config);

}  // namespace verbatim::translation

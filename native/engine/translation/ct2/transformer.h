#pragma once

#include "transformer/transformer.h"
#include "translation/ct2/config.h"
#include "translation/ct2/file.h"

namespace verbatim::translation {

// A CTranslate2 model with every name, revision and shape resolved and checked. Throws EngineError
// kInvalidModel: missing or unknown variables, shapes that do not fit, scales that are not positive numbers,
// features that are not supported. `file` must outlive the result.
transformer::Transformer read_transformer(const Ct2File& file, const Ct2Config& config);

}  // namespace verbatim::translation

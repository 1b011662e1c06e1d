#pragma once

#include <memory>

#include "transformer/executor.h"
#include "transformer/kernels/kernels.h"
#include "translation/model.h"
#include "translation/model_files.h"
#include "translation/translator.h"

namespace verbatim::translation {

// Translates in four stages: tokens -> ids -> search on an executor -> tokens. `owner` keeps the files and the
// executor's weights alive.
std::unique_ptr<Translator> make_ggml_translator(std::shared_ptr<const TranslationModel> owner, const ModelFiles& files,
                                                 std::unique_ptr<transformer::Executor> executor,
                                                 const transformer::Kernels& kernels);

}  // namespace verbatim::translation

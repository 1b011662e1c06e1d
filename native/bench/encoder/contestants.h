#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "contestant.h"
#include "speech/model_tensors.h"

namespace verbatim::bench {

using Contestants = std::vector<std::unique_ptr<Contestant>>;

// The first so many run on whisper.cpp; those of this engine follow, the second of them in float32; CTranslate2's come
// last.
inline constexpr std::size_t kOnWhisper = 3;

// Both encoders, each with the accelerator in its fastest type, in float32, and without; and this engine's in int8 on
// each of the kernels. All times are compared with whisper.cpp on the accelerator's fastest type. `mels`: of the model.
// Throws as whisper_contestant() does.
Contestants whisper_contestants(const std::filesystem::path& model, int mels,
                                const std::vector<const transformer::Kernels*>& kernels);

// The same on a model of random weights; in builds with CTranslate2 also CTranslate2 on the same weights, in each of
// `ct2_types`. The models are written to `directory` under `name`.
Contestants random_contestants(const ModelShape& shape, const std::string& name,
                               const std::vector<const transformer::Kernels*>& kernels,
                               const std::vector<std::string>& ct2_types, const std::filesystem::path& directory);

}  // namespace verbatim::bench

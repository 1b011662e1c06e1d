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

// How many of them run on whisper.cpp, and behind those on our own graphs; CTranslate2's come last.
inline constexpr std::size_t kOnWhisper = 3;
inline constexpr std::size_t kOwn = 3;

// Of both: the accelerator in its fastest type (whisper.cpp's is the one with which all times are compared),
// in float32, and none. `mels`: of the model. Throws as whisper_contestant() does.
Contestants whisper_contestants(const std::filesystem::path& model, int mels);

// The same on a model of random weights, and in builds with it CTranslate2, in each of `ct2_types`, on the
// same weights. The models are written to `directory`, under `name`.
Contestants random_contestants(const ModelShape& shape, const std::string& name,
                               const std::vector<std::string>& ct2_types,
                               const std::filesystem::path& directory);

}  // namespace verbatim::bench

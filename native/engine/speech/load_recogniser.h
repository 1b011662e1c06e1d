#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "accelerator/accelerator.h"
#include "speech/recogniser.h"

namespace verbatim {

// A speech model that decodes many windows at once. `device`: "cpu". `compute`: the type that the decoder's
// weights are held in for computing, "int8", "bfloat16", "float32", or "auto": the fastest one that does not
// cost words. With "float32" an encoder on the accelerator computes in float32 too. alignment_heads: those of
// the decoder that words are aligned by; for none, all of the upper half of its layers. Throws EngineError:
// kInvalidModel, kIoError, kDeviceUnavailable, kOutOfMemory, kInvalidArgument for another spelling and for
// what this build does not have.
std::shared_ptr<const Recogniser> load_recogniser(
    const std::filesystem::path& path, std::string_view device, AcceleratorMode accelerator,
    std::string_view compute, std::vector<transformer::AttentionHead> alignment_heads = {});

}  // namespace verbatim

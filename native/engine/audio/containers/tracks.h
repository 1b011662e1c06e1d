#pragma once

#include <memory>

#include "audio/decoding/decoder.h"
#include "audio/decoding/file.h"

namespace verbatim {

// Openers, one a container. Each takes the range of the file that the container occupies. Throw EngineError
// kUnsupportedAudioFormat and kInvalidAudio.
std::unique_ptr<Track> open_wav(const ByteSource& bytes);
std::unique_ptr<Track> open_flac(const ByteSource& bytes);
std::unique_ptr<Track> open_mp3(const ByteSource& bytes);
std::unique_ptr<Track> open_ogg(const ByteSource& bytes);

}  // namespace verbatim

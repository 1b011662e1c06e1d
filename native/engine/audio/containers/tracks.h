#pragma once

#include <memory>

#include "audio/decoding/decoder.h"
#include "audio/decoding/file.h"

namespace verbatim {

// One opener for each container. Each takes the container's range of the file. Throw EngineError
// kUnsupportedAudioFormat and kInvalidAudio.
std::unique_ptr<Track> open_wav(const ByteSource& bytes);
std::unique_ptr<Track> open_flac(const ByteSource& bytes);
std::unique_ptr<Track> open_mp3(const ByteSource& bytes);
std::unique_ptr<Track> open_ogg(const ByteSource& bytes);

}  // namespace verbatim

#pragma once

#include <memory>
#include <string>

#include "audio/decoding/decoder.h"
#include "audio/decoding/file.h"

namespace verbatim {

struct Sniffed {
  // "wav", "flac", "mp3" or "ogg"
  std::string container;
  std::unique_ptr<Track> track;
};

// Detects the file's format by content and opens it. ID3v2 tags may precede any format, and up to 64 KiB of junk may
// precede MP3. Throws EngineError kUnsupportedAudioFormat if it is none of the four, kInvalidAudio if it is one of them
// but holds nothing to decode.
Sniffed open_track(const std::shared_ptr<const File>& file);

}  // namespace verbatim

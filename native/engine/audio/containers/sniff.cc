#include "audio/containers/sniff.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "audio/containers/mp3_frame.h"
#include "audio/containers/tracks.h"
#include "error.h"

namespace verbatim {
namespace {

constexpr std::int64_t kLongestJunk = 64 * 1024;
constexpr std::int64_t kLongestJunkBehindTag = 1024 * 1024;
constexpr int kMostTags = 16;

// Other formats that may contain whole MP3 frames. The name is for the message.
struct OtherFormat {
  std::size_t offset;
  std::string_view magic;
  std::string_view name;
};
constexpr std::array kOtherFormats = {
    OtherFormat{4, "ftyp", "MP4 or M4A"},
    OtherFormat{0, "\x1A\x45\xDF\xA3", "Matroska or WebM"},
    OtherFormat{0, "FORM", "AIFF"},
    OtherFormat{0, "caff", "CAF"},
    OtherFormat{0, ".snd", "AU"},
    OtherFormat{0, "dns.", "AU"},
    OtherFormat{0, "riff", "Wave64"},
    OtherFormat{0, "RIFF", "a RIFF file, but not WAVE"},
    OtherFormat{0, "RIFX", "a RIFF file, but not WAVE"},
    OtherFormat{0, "\x30\x26\xB2\x75", "WMA or ASF"},
    OtherFormat{0, "FLV", "Flash video"},
    OtherFormat{0, "wvpk", "WavPack"},
    OtherFormat{0, "MAC ", "Monkey's Audio"},
    OtherFormat{0, "#!AMR", "AMR"},
    OtherFormat{0, "ADIF", "AAC"},
    OtherFormat{0, "MThd", "MIDI"},
    OtherFormat{0, "PK\x03\x04", "a ZIP archive"},
    OtherFormat{0, "%PDF", "PDF"},
    OtherFormat{0, "\x1F\x8B", "gzip"},
    OtherFormat{0,
                "\x7F"
                "ELF",
                "a program"},
};

[[noreturn]] void unsupported(std::string_view what) {
  std::string message = "the file is not WAV, FLAC, MP3 or OGG audio";
  if (!what.empty()) message.append(" (it looks like ").append(what).append(")");
  throw EngineError(ErrorCode::kUnsupportedAudioFormat, message);
}

[[noreturn]] void invalid(const std::string& message) { throw EngineError(ErrorCode::kInvalidAudio, message); }

bool is_wave(ByteSource& bytes) {
  constexpr std::array<std::string_view, 4> kForms = {"RIFF", "RIFX", "RF64", "BW64"};
  for (const auto form : kForms) {
    if (bytes.matches(bytes.begin(), form)) return bytes.matches(bytes.begin() + 8, "WAVE");
  }
  return false;
}

// A file that was cut within its first bytes is invalid audio, not an unsupported format.
void refuse_stump(ByteSource& bytes) {
  const auto head = bytes.view(bytes.begin(), 12);
  constexpr std::array<std::string_view, 7> kMagics = {"RIFF", "RIFX", "RF64", "BW64", "fLaC", "OggS", "ID3"};
  if (head.size() == 12) return;
  const bool begins_mp3 = head.size() < 4 && head[0] == 0xFF && (head.size() == 1 || (head[1] & 0xE6) == 0xE2);
  if (begins_mp3) invalid("the MP3 file ends within its first frame");
  for (const auto magic : kMagics) {
    if (std::memcmp(head.data(), magic.data(), std::min(head.size(), magic.size())) == 0) {
      invalid("the file ends within its first " + std::to_string(head.size()) + " bytes");
    }
  }
}

std::int64_t skip_tags(ByteSource& bytes) {
  std::int64_t at = bytes.begin();
  for (int i = 0; i < kMostTags; ++i) {
    const std::int64_t length = id3v2_length(bytes, at);
    // A tag whose length reaches beyond the end is invalid.
    if (length == 0 || at + length >= bytes.end()) break;
    at += length;
  }
  return at;
}

std::unique_ptr<Track> open_as_mp3(ByteSource bytes, bool tagged) {
  const auto first = bytes.view(bytes.begin(), 16);
  for (const auto& other : kOtherFormats) {
    if (!tagged && bytes.matches(bytes.begin() + static_cast<std::int64_t>(other.offset), other.magic)) {
      unsupported(other.name);
    }
  }
  const bool begins_like_mp3 = parse_mp3_header(first).has_value();
  const std::int64_t junk = tagged ? kLongestJunkBehindTag : kLongestJunk;
  // Enough bytes behind the junk for the frames that must confirm the first.
  Mp3Scanner scanner(ByteSource(bytes.file(), bytes.begin(), bytes.begin() + junk + 8 * 1024));
  const auto frame = scanner.next();
  if (frame && frame->offset - bytes.begin() <= junk) {
    return open_mp3(ByteSource(bytes.file(), frame->offset, bytes.end()));
  }
  if (tagged) invalid("the file has an ID3 tag, but no MP3 frames behind it");
  if (begins_like_mp3 && bytes.end() - bytes.begin() < 8 * 1024) invalid("the MP3 file holds no whole frames");
  unsupported("");
}

}  // namespace

Sniffed open_track(const std::shared_ptr<const File>& file) {
  ByteSource whole(file, 0, file->size());
  if (whole.end() == 0) invalid("the file is empty");
  const std::int64_t begin = skip_tags(whole);  // at the end of the tags of a file that is longer than its tags
  const bool tagged = whole.matches(0, "ID3");
  ByteSource bytes(file, begin, whole.end());
  if (is_wave(bytes)) return {"wav", open_wav(bytes)};
  if (bytes.matches(begin, "fLaC")) return {"flac", open_flac(bytes)};
  if (bytes.matches(begin, "OggS")) return {"ogg", open_ogg(bytes)};
  refuse_stump(bytes);
  return {"mp3", open_as_mp3(bytes, tagged)};
}

}  // namespace verbatim

// Writes the audio files that fuzzing starts from: every supported container and coding, as short as possible.
//   make_corpus DIRECTORY
#include <cstdio>
#include <exception>
#include <filesystem>
#include <vector>

#include "testing/audio_files.h"

namespace {

using namespace verbatim::test;

struct Seed {
  const char* path;
  int format;
  int rate;
  int channels;
  double seconds;
};

constexpr Seed kSeeds[] = {
    {"wav/pcm16.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 8000, 1, 0.05},
    {"wav/pcm24-stereo.wav", SF_FORMAT_WAVEX | SF_FORMAT_PCM_24, 44100, 2, 0.01},
    {"wav/pcm8.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 8000, 1, 0.05},
    {"wav/float.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 16000, 1, 0.02},
    {"wav/double.wav", SF_FORMAT_WAV | SF_FORMAT_DOUBLE, 8000, 1, 0.02},
    {"wav/alaw.wav", SF_FORMAT_WAV | SF_FORMAT_ALAW, 8000, 1, 0.05},
    {"wav/ima.wav", SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM, 8000, 1, 0.1},
    {"wav/ms.wav", SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM, 8000, 1, 0.1},
    {"wav/gsm.wav", SF_FORMAT_WAV | SF_FORMAT_GSM610, 8000, 1, 0.1},
    {"wav/big-endian.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16 | SF_ENDIAN_BIG, 8000, 1, 0.05},
    {"wav/rf64.wav", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 8000, 1, 0.05},
    {"flac/16.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 8000, 1, 0.1},
    {"flac/24-stereo.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24, 48000, 2, 0.05},
    {"flac/8.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_S8, 16000, 1, 0.1},
    {"mp3/mono.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 8000, 1, 0.3},
    {"mp3/stereo.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 44100, 2, 0.1},
    {"mp3/low-rate.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 22050, 1, 0.2},
    {"ogg/vorbis.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 8000, 1, 0.2},
    {"ogg/vorbis-stereo.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 44100, 2, 0.05},
    {"ogg/opus.ogg", SF_FORMAT_OGG | SF_FORMAT_OPUS, 48000, 1, 0.2},
    {"ogg/opus-stereo.ogg", SF_FORMAT_OGG | SF_FORMAT_OPUS, 16000, 2, 0.2},
};

void write(const std::filesystem::path& directory, const Seed& seed) {
  const std::filesystem::path path = directory / seed.path;
  std::filesystem::create_directories(path.parent_path());
  std::vector<float> interleaved;
  for (const float sample : tone(seed.seconds, seed.rate, 440)) {
    interleaved.insert(interleaved.end(), static_cast<std::size_t>(seed.channels), sample);
  }
  write_audio(path, seed.format, seed.rate, seed.channels, interleaved);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: make_corpus DIRECTORY\n");
    return 2;
  }
  try {
    for (const Seed& seed : kSeeds) write(words[1], seed);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_corpus: %s\n", error.what());
    return 1;
  }
}

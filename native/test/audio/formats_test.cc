#include <doctest/doctest.h>

#include <cmath>

#include "audio/decoded_audio.h"

using namespace verbatim;
using namespace verbatim::test;

namespace {

struct Kind {
  std::string container;
  std::string codec;
  int format;
  int rate;
  // Tolerances of level and duration.
  double level_tolerance;
  std::int64_t frames_tolerance;
};

void check_tone(const Kind& kind, const std::filesystem::path& path, double seconds) {
  const DecodedAudio decoded = decode_file(path);
  CHECK(decoded.info.container == kind.container);
  CHECK(decoded.info.codec == kind.codec);
  CHECK(decoded.info.sample_rate == kind.rate);
  CHECK(std::abs(decoded.seconds - seconds) * kind.rate <= static_cast<double>(kind.frames_tolerance) + 1e-6);
  const double expected = 0.5 / std::sqrt(2.0);
  CHECK(level_at(decoded.samples, 440) == doctest::Approx(expected).epsilon(kind.level_tolerance));
  // There is nothing but the tone.
  const auto middle = std::span(decoded.samples).subspan(decoded.samples.size() / 4, decoded.samples.size() / 2);
  CHECK(level(middle) == doctest::Approx(expected).epsilon(kind.level_tolerance + 0.02));
}

}  // namespace

TEST_CASE("every kind of file keeps a tone's frequency, level and exact duration") {
  const TemporaryDirectory directory;
  const std::vector<Kind> kinds = {
      {"wav", "pcm_u8", SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 22050, 0.01, 0},
      {"wav", "pcm_s16", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000, 0.001, 0},
      {"wav", "pcm_s24", SF_FORMAT_WAV | SF_FORMAT_PCM_24, 44100, 0.001, 0},
      {"wav", "pcm_s32", SF_FORMAT_WAV | SF_FORMAT_PCM_32, 48000, 0.001, 0},
      {"wav", "float", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 44100, 0.001, 0},
      {"wav", "double", SF_FORMAT_WAV | SF_FORMAT_DOUBLE, 96000, 0.001, 0},
      {"wav", "alaw", SF_FORMAT_WAV | SF_FORMAT_ALAW, 8000, 0.02, 0},
      {"wav", "ulaw", SF_FORMAT_WAV | SF_FORMAT_ULAW, 8000, 0.02, 0},
      {"wav", "pcm_s16", SF_FORMAT_WAVEX | SF_FORMAT_PCM_16, 32000, 0.001, 0},
      {"wav", "pcm_s24", SF_FORMAT_WAVEX | SF_FORMAT_PCM_24, 32000, 0.001, 0},
      {"wav", "float", SF_FORMAT_WAVEX | SF_FORMAT_FLOAT, 32000, 0.001, 0},
      {"wav", "ulaw", SF_FORMAT_WAVEX | SF_FORMAT_ULAW, 8000, 0.02, 0},
      {"wav", "pcm_s16", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 44100, 0.001, 0},
      {"wav", "float", SF_FORMAT_RF64 | SF_FORMAT_FLOAT, 44100, 0.001, 0},
      {"wav", "pcm_s16", SF_FORMAT_WAV | SF_FORMAT_PCM_16 | SF_ENDIAN_BIG, 11025, 0.001, 0},
      {"wav", "float", SF_FORMAT_WAV | SF_FORMAT_FLOAT | SF_ENDIAN_BIG, 11025, 0.001, 0},
      // Block codecs pad their last block.
      {"wav", "ima_adpcm", SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM, 16000, 0.02, 2048},
      {"wav", "ms_adpcm", SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM, 16000, 0.02, 2048},
      {"wav", "gsm610", SF_FORMAT_WAV | SF_FORMAT_GSM610, 8000, 0.2, 640},
      {"flac", "flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_S8, 16000, 0.01, 0},
      {"flac", "flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 44100, 0.001, 0},
      {"flac", "flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24, 96000, 0.001, 0},
      {"ogg", "vorbis", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 44100, 0.05, 0},
      {"ogg", "vorbis", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 8000, 0.05, 0},
      {"ogg", "opus", SF_FORMAT_OGG | SF_FORMAT_OPUS, 48000, 0.05, 0},
      {"ogg", "opus", SF_FORMAT_OGG | SF_FORMAT_OPUS, 16000, 0.05, 0},
      {"mp3", "mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 44100, 0.05, 0},
      {"mp3", "mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 22050, 0.05, 0},
      {"mp3", "mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 8000, 0.05, 0},
  };
  for (const Kind& kind : kinds) {
    CAPTURE(kind.container);
    CAPTURE(kind.codec);
    CAPTURE(kind.format);
    CAPTURE(kind.rate);
    const auto samples = tone(1.2345, kind.rate, 440);
    const double seconds = static_cast<double>(samples.size()) / kind.rate;
    check_tone(kind, write_audio(directory / "tone", kind.format, kind.rate, 1, samples), seconds);
  }
}

TEST_CASE("rates from 4 to 384 kHz") {
  const TemporaryDirectory directory;
  for (const int rate : {4000,  6000,  7350,  8000,  11025, 12000, 15999, 16000,  16001,  22050,  24000,  32000,
                         37800, 44056, 44100, 48000, 64000, 88200, 96000, 176400, 192000, 352800, 383999, 384000}) {
    CAPTURE(rate);
    const auto samples = tone(1.0, rate, 440);
    const DecodedAudio decoded =
        decode_file(write_audio(directory / "rate.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate, 1, samples));
    CHECK(decoded.info.sample_rate == rate);
    CHECK(decoded.seconds == 1.0);
    CHECK(level_at(decoded.samples, 440) == doctest::Approx(0.5 / std::sqrt(2.0)).epsilon(0.002));
  }
}

TEST_CASE("frequencies above 8 kHz do not alias into the band of speech") {
  const TemporaryDirectory directory;
  const auto samples = tone(1.0, 48000, 11000);
  const DecodedAudio decoded =
      decode_file(write_audio(directory / "high.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 48000, 1, samples));
  const auto middle = std::span(decoded.samples).subspan(decoded.samples.size() / 4, decoded.samples.size() / 2);
  CHECK(level(middle) < 1e-4);
}

TEST_CASE("1 to 32 channels are mixed down to their mean") {
  const TemporaryDirectory directory;
  for (int channels = 1; channels <= 32; ++channels) {
    CAPTURE(channels);
    // The tone is in the last channel alone; the levels of the others add up to 0.
    const auto mono = tone(0.5, 16000, 440);
    std::vector<float> samples;
    for (const float sample : mono) {
      for (int channel = 0; channel + 1 < channels; ++channel) {
        const bool unpaired = channel + 2 == channels && channels % 2 == 0;
        samples.push_back(unpaired ? 0.0f : channel % 2 == 0 ? 0.25f : -0.25f);
      }
      samples.push_back(sample);
    }
    const DecodedAudio decoded = decode_file(
        write_audio(directory / "channels.wav", SF_FORMAT_WAVEX | SF_FORMAT_FLOAT, 16000, channels, samples));
    CHECK(decoded.info.channels == channels);
    CHECK(decoded.samples.size() == mono.size());
    CHECK(level_at(decoded.samples, 440) == doctest::Approx(0.5 / std::sqrt(2.0) / channels).epsilon(0.001));
    CHECK(level(decoded.samples) == doctest::Approx(0.5 / std::sqrt(2.0) / channels).epsilon(0.01));
  }
}

TEST_CASE("stereo in every container") {
  const TemporaryDirectory directory;
  for (const int format : {SF_FORMAT_FLAC | SF_FORMAT_PCM_16, SF_FORMAT_OGG | SF_FORMAT_VORBIS,
                           SF_FORMAT_OGG | SF_FORMAT_OPUS, SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III,
                           SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM, SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM}) {
    CAPTURE(format);
    std::vector<float> samples;
    for (const float sample : tone(1.0, 48000, 440)) {
      samples.push_back(sample);
      samples.push_back(0.5f * sample);
    }
    const DecodedAudio decoded = decode_file(write_audio(directory / "stereo", format, 48000, 2, samples));
    CHECK(decoded.info.channels == 2);
    CHECK(level_at(decoded.samples, 440) == doctest::Approx(0.75 * 0.5 / std::sqrt(2.0)).epsilon(0.05));
  }
}

TEST_CASE("NaN samples become 0, and absurd ones do no harm") {
  const TemporaryDirectory directory;
  auto samples = tone(0.5, 44100, 440);
  samples[5000] = std::nanf("");
  samples[6000] = INFINITY;
  samples[7000] = -INFINITY;
  samples[8000] = 3e38f;
  const DecodedAudio decoded =
      decode_file(write_audio(directory / "nan.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 44100, 1, samples));
  CHECK(decoded.samples.size() == 8000);
  CHECK(level(std::span(decoded.samples).first(500)) == doctest::Approx(0.5 / std::sqrt(2.0)).epsilon(0.02));
}

#include "audio/reader.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "audio/containers/sniff.h"
#include "audio/decoding/decoder.h"
#include "audio/decoding/file.h"
#include "audio/resampler.h"
#include "audio/sample_rate.h"
#include "error.h"

namespace verbatim {
namespace {

constexpr std::size_t kBlockFrames = 4096;
// Most runs of one file; a file with more consists of damage.
constexpr int kMostRuns = 4096;

// The decodable runs of a file, one after another.
class Chain {
 public:
  // Throws EngineError if there is none.
  explicit Chain(Sniffed sniffed) : container_(std::move(sniffed.container)), track_(std::move(sniffed.track)) {
    advance();
    if (!decoder_) throw first_error_;
  }

  const std::string& container() const noexcept { return container_; }
  // Null at the end.
  Decoder* current() const noexcept { return decoder_.get(); }

  void advance() {
    decoder_.reset();
    while (!decoder_ && runs_ < kMostRuns) {
      ++runs_;
      try {
        decoder_ = track_->next();
        if (!decoder_) runs_ = kMostRuns;
      } catch (const EngineError& error) {
        if (error.code() == ErrorCode::kIoError || error.code() == ErrorCode::kOutOfMemory) throw;
        if (runs_ == 1) first_error_ = error;
      }
    }
  }

 private:
  std::string container_;
  // Declared before the decoder, which may refer to it.
  std::unique_ptr<Track> track_;
  std::unique_ptr<Decoder> decoder_;
  EngineError first_error_{ErrorCode::kInvalidAudio, "the file holds nothing that can be decoded"};
  int runs_ = 0;
};

// Adds up the durations of a file's runs without delivering samples.
class Measurement {
 public:
  explicit Measurement(Chain chain) : chain_(std::move(chain)) {}

  // False when nothing is left to measure.
  bool step() {
    Decoder* decoder = chain_.current();
    if (decoder == nullptr) return false;
    const int rate = decoder->info().sample_rate;
    if (rate != rate_) {
      seconds_ = seconds();
      frames_ = 0;
      rate_ = rate;
    }
    const std::int64_t frames = decoder->skip();
    samples_ += static_cast<double>(frames) * decoder->info().channels;
    if (frames == 0) chain_.advance();
    frames_ += frames;
    return true;
  }

  double seconds() const noexcept { return seconds_ + static_cast<double>(frames_) / rate_; }
  double samples() const noexcept { return samples_; }

 private:
  Chain chain_;
  double seconds_ = 0;
  // Over all channels. Beyond 2^53 the lost precision does not matter.
  double samples_ = 0;
  std::int64_t frames_ = 0;
  int rate_ = 1;
};

// Delivers a file's runs as one signal at 16 kHz.
class Playback {
 public:
  explicit Playback(Chain chain)
      : chain_(std::move(chain)), resampler_(chain_.current()->info().sample_rate), block_(kBlockFrames) {}

  std::size_t read(std::span<float> out) {
    std::size_t done = 0;
    while (done < out.size()) {
      if (pending_.empty() && !flushing_) refill();
      const auto progress = resampler_.process(pending_, flushing_, out.subspan(done));
      pending_ = pending_.subspan(progress.consumed);
      done += progress.produced;
      if (flushing_ && progress.produced == 0) {
        if (chain_.current() == nullptr) break;
        resampler_ = Resampler(chain_.current()->info().sample_rate);
        flushing_ = false;
      }
    }
    for (float& sample : out.first(done)) {
      if (!std::isfinite(sample)) sample = 0;
    }
    return done;
  }

 private:
  void refill() {
    while (Decoder* decoder = chain_.current()) {
      if (decoder->info().sample_rate != resampler_.rate()) break;
      const std::size_t count = decoder->read(block_);
      pending_ = std::span<const float>(block_).first(count);
      if (count > 0) return;
      chain_.advance();
    }
    flushing_ = true;
  }

  Chain chain_;
  Resampler resampler_;
  std::vector<float> block_;
  std::span<const float> pending_;
  bool flushing_ = false;
};

}  // namespace

struct AudioReader::Impl {
  explicit Impl(const std::filesystem::path& path)
      : file(std::make_shared<const File>(path)), fresh(Chain(open_track(file))) {
    info = fresh->current()->info();
    info.container = fresh->container();
  }

  // The file from its start. The first caller gets what the constructor opened.
  Chain take_chain() {
    if (!fresh) return Chain(open_track(file));
    Chain chain = std::move(*fresh);
    fresh.reset();
    return chain;
  }

  std::shared_ptr<const File> file;
  std::optional<Chain> fresh;
  AudioInfo info;
  std::optional<Measurement> measurement;
  std::optional<Playback> playback;
  std::optional<double> duration;
  double samples = 0;
};

AudioReader::AudioReader(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}
AudioReader::~AudioReader() = default;
AudioReader::AudioReader(AudioReader&&) noexcept = default;
AudioReader& AudioReader::operator=(AudioReader&&) noexcept = default;

const AudioInfo& AudioReader::info() const noexcept { return impl_->info; }

double AudioReader::measured_seconds() const noexcept {
  if (impl_->duration) return *impl_->duration;
  return impl_->measurement ? impl_->measurement->seconds() : 0.0;
}

double AudioReader::measured_samples() const noexcept {
  return impl_->measurement ? impl_->measurement->samples() : impl_->samples;
}

std::optional<double> AudioReader::measure(double budget_seconds) {
  using Clock = std::chrono::steady_clock;
  if (impl_->duration) return impl_->duration;
  const auto until = Clock::now() + std::chrono::duration<double>(std::max(0.0, budget_seconds));
  if (!impl_->measurement) impl_->measurement.emplace(impl_->take_chain());
  while (impl_->measurement->step()) {
    if (Clock::now() >= until) return std::nullopt;
  }
  const double seconds = impl_->measurement->seconds();
  if (seconds <= 0) throw EngineError(ErrorCode::kInvalidAudio, "the file holds no samples that can be decoded");
  impl_->duration = seconds;
  impl_->samples = impl_->measurement->samples();
  impl_->measurement.reset();
  return impl_->duration;
}

std::size_t AudioReader::read(std::span<float> out) {
  if (!impl_->playback) impl_->playback.emplace(impl_->take_chain());
  return impl_->playback->read(out);
}

}  // namespace verbatim

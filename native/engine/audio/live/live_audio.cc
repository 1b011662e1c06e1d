#include "audio/live/live_audio.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "audio/live/endpointer.h"
#include "audio/live/live_detector.h"
#include "audio/live/live_signal.h"
#include "audio/live/quietest_place.h"
#include "audio/sample_rate.h"
#include "error.h"

namespace verbatim {
namespace {

constexpr std::int64_t kChunk = LiveDetector::kChunkSamples;
// Frames that are decoded at once.
constexpr std::size_t kBlockFrames = 4096;
// Samples at another rate are worked off in steps of 8 ms, so that an end is found at the same place however the signal
// is split.
constexpr int kStepsPerSecond = 125;

std::int64_t to_samples(double seconds) { return std::llround(seconds * kSampleRate); }

const SampleFormat& checked(const SampleFormat& format) {
  check_sample_format(format);
  return format;
}

const LiveOptions& checked(const LiveOptions& options) {
  check_live_options(options);
  return options;
}

}  // namespace

struct LiveAudio::Impl {
  Impl(const SampleFormat& wanted, const LiveOptions& rules, const VoiceActivityModel* voice)
      : format(checked(wanted)),
        options(checked(rules)),
        decoder(format),
        signal(format.sample_rate),
        detector(voice),
        endpointer(options) {}

  const SampleFormat format;
  LiveOptions options;
  FrameDecoder decoder;
  const std::size_t step_size = static_cast<std::size_t>(format.sample_rate / kStepsPerSecond);
  // Less than a step.
  std::vector<float> waiting;
  LiveSignal signal;
  LiveDetector detector;
  Endpointer endpointer;
  // From here on there are samples of utterances that the caller has not discarded.
  std::optional<std::int64_t> retained;

  void feed(std::span<const float> samples, LiveEvents& events) {
    if (format.sample_rate == kSampleRate) {
      signal.push(samples);
      work_off(events);
      return;
    }
    for (const float sample : samples) {
      waiting.push_back(sample);
      if (waiting.size() == step_size) feed_waiting(events);
    }
  }

  void feed_waiting(LiveEvents& events) {
    signal.push(waiting);
    waiting.clear();
    work_off(events);
  }

  void work_off(LiveEvents& events) {
    while (signal.quick().end() - endpointer.position() >= kChunk) step(kChunk, events);
  }

  // The next chunk.
  void step(std::int64_t size, LiveEvents& events) {
    const std::size_t before = events.size();
    if (options.detect) {
      detect(size, events);
    } else {
      endpointer.step(0, static_cast<int>(size), events);
    }
    cut_long_piece(events);
    for (std::size_t i = before; i < events.size(); ++i) {
      const auto& [kind, at, speech_end] = events[i];
      if (kind == LiveEvent::Kind::kSpeechStarted && !retained) retained = at;
      // The caller takes the samples up to here.
      if (kind == LiveEvent::Kind::kSpeechStopped || kind == LiveEvent::Kind::kPause) signal.flush();
    }
    retain_manual();
  }

  void detect(std::int64_t size, LiveEvents& events) {
    const std::int64_t begin = endpointer.position();
    const std::size_t count = detector.next(signal.quick().view(begin, begin + size), endpointer.active());
    if (count == 0) return endpointer.step(0, static_cast<int>(size), events);
    const std::int64_t first = begin - static_cast<std::int64_t>(count - 1) * kChunk;
    endpointer.rewind(first);
    for (std::int64_t at = first; at <= begin; at += kChunk) {
      const std::int64_t length = at == begin ? size : kChunk;
      const float probability = detector.judge(signal.quick().view(at, at + length), at == begin);
      endpointer.step(probability, static_cast<int>(length), events);
    }
  }

  // The longest piece is complete when the next chunk would not fit.
  void cut_long_piece(LiveEvents& events) {
    const std::int64_t longest = to_samples(options.longest_seconds);
    while (endpointer.in_utterance() && endpointer.position() + kChunk > endpointer.piece_begin() + longest) {
      const std::int64_t here = std::min(endpointer.position(), signal.fine().end());
      const std::int64_t to = std::min(endpointer.piece_begin() + longest, here);
      const std::int64_t search = std::max(to - to_samples(options.search_seconds), endpointer.piece_begin() + 1);
      const std::int64_t from = std::max(search, signal.fine().begin());
      const std::int64_t place =
          from < to ? from + static_cast<std::int64_t>(quietest_place(signal.fine().view(from, to))) : to;
      endpointer.cut(place, events);
    }
  }

  void retain_manual() {
    if (!options.detect && !retained) retained = endpointer.piece_begin();
  }

  // The earliest sample that an utterance which has not begun yet may need.
  std::int64_t idle_from() const {
    const std::int64_t padding = to_samples(options.prefix_padding_ms / 1000.0);
    return endpointer.position() - padding - static_cast<std::int64_t>(kIdleChunks) * kChunk;
  }

  // Drops what neither the caller nor a next utterance needs.
  void trim() {
    const std::int64_t idle = idle_from();
    const std::int64_t most = static_cast<std::int64_t>(kMostKeptSeconds) * kSampleRate;
    SampleBuffer& fine = signal.fine();
    fine.drop_before(std::max(retained ? std::min(*retained, idle) : idle, fine.end() - most));
    if (!retained) fine.compact();
    if (format.sample_rate == kSampleRate) return;
    signal.quick().drop_before(endpointer.position() - static_cast<std::int64_t>(kIdleChunks) * kChunk);
    signal.quick().compact();
  }

  // An utterance may begin with a chunk so far back, without its padding: the model looks back, and speech is long
  // enough only a few chunks later.
  static constexpr std::size_t kIdleChunks = LiveDetector::kLookBackChunks + 5;

  LiveEvents push(std::span<const std::byte> bytes) {
    LiveEvents events;
    std::vector<float> block;
    const std::size_t block_bytes = kBlockFrames * bytes_per_frame(format);
    while (!bytes.empty()) {
      const std::size_t count = std::min(block_bytes, bytes.size());
      block.clear();
      decoder.decode(bytes.first(count), block);
      bytes = bytes.subspan(count);
      feed(block, events);
      trim();
    }
    return events;
  }

  // Works off all samples, so that the next chunk begins here.
  void catch_up(LiveEvents& events) {
    feed_waiting(events);
    signal.flush();
    work_off(events);
    const std::int64_t rest = signal.quick().end() - endpointer.position();
    if (rest > 0) step(rest, events);
    detector.start_over();
  }
};

LiveAudio::LiveAudio(const SampleFormat& format, const LiveOptions& options, const VoiceActivityModel* voice)
    : impl_(std::make_unique<Impl>(format, options, voice)) {}
LiveAudio::~LiveAudio() = default;

LiveEvents LiveAudio::push(std::span<const std::byte> bytes) {
  const std::size_t most =
      bytes_per_frame(impl_->format) * static_cast<std::size_t>(impl_->format.sample_rate) * kMostPushedSeconds;
  if (bytes.size() > most) {
    throw EngineError(ErrorCode::kInvalidArgument, std::to_string(bytes.size()) + " bytes were pushed at once; up to " +
                                                       std::to_string(kMostPushedSeconds) + " seconds (" +
                                                       std::to_string(most) + " bytes) are allowed");
  }
  return impl_->push(bytes);
}

LiveEvents LiveAudio::end_utterance() {
  LiveEvents events;
  impl_->catch_up(events);
  impl_->endpointer.end(events);
  impl_->trim();
  return events;
}

void LiveAudio::clear() {
  impl_->signal.push(impl_->waiting);
  impl_->waiting.clear();
  impl_->signal.flush();
  const bool finished_before = impl_->retained && *impl_->retained < impl_->endpointer.last_end();
  if (!finished_before) impl_->retained.reset();
  impl_->endpointer.clear(impl_->signal.fine().end());
  impl_->detector.start_over();
  impl_->retain_manual();
  impl_->trim();
}

void LiveAudio::configure(const LiveOptions& options) {
  // Nothing before it is kept for certain.
  const std::int64_t idle = impl_->idle_from();
  impl_->options = checked(options);
  impl_->endpointer.begin_from(idle);
  impl_->endpointer.configure(options);
  impl_->detector.start_over();
  impl_->retain_manual();
}

std::int64_t LiveAudio::position() const noexcept { return impl_->signal.fine().end(); }

std::optional<std::int64_t> LiveAudio::utterance_begin() const noexcept {
  if (!impl_->endpointer.in_utterance()) return std::nullopt;
  return impl_->endpointer.piece_begin();
}

std::int64_t LiveAudio::kept_from() const noexcept { return impl_->signal.fine().begin(); }

std::vector<float> LiveAudio::samples(std::int64_t begin, std::int64_t end) const {
  if (begin < kept_from() || end > position() || begin > end) {
    throw EngineError(ErrorCode::kInvalidArgument, "samples " + std::to_string(begin) + " to " + std::to_string(end) +
                                                       " are not kept; " + std::to_string(kept_from()) + " to " +
                                                       std::to_string(position()) + " are");
  }
  const std::span<const float> kept = impl_->signal.fine().view(begin, end);
  return {kept.begin(), kept.end()};
}

void LiveAudio::discard_before(std::int64_t position) {
  if (!impl_->retained) return;
  const bool all = !impl_->endpointer.in_utterance() && position >= impl_->endpointer.last_end();
  if (all) {
    impl_->retained.reset();
  } else {
    impl_->retained = std::clamp(position, *impl_->retained, impl_->endpointer.position());
  }
  impl_->trim();
}

std::size_t LiveAudio::memory_bytes() const noexcept { return sizeof(Impl) + impl_->signal.memory_bytes(); }

}  // namespace verbatim

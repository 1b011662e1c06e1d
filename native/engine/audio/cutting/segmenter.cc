#include "audio/cutting/segmenter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "audio/cutting/pause_plan.h"
#include "audio/cutting/signal_tracker.h"
#include "audio/cutting/voice_tracker.h"
#include "audio/cutting/window_policy.h"

namespace verbatim {
namespace {

using FrameIndex = std::int64_t;
constexpr int kFrame = SpeechTracker::kFrameSamples;
// Frames that are read at once.
constexpr FrameIndex kReadFrames = 50;
constexpr int kFramesPerSecond = kSampleRate / kFrame;

// Silence that is kept on each side of a window's sound.
constexpr FrameIndex kMargin = 10;
// Two windows share a pause between them as a whole if it is at most twice this long.
constexpr FrameIndex kHalfPause = 20;
static_assert(kHalfPause >= kMargin);
// Levels are known up to this far behind the longest window, so that the length of a pause at its end is known.
constexpr FrameIndex kLookAhead = 100;
// Sound shorter than this, between stretches of nothing at least as long as kAlone, is a click and not a word.
constexpr FrameIndex kClick = 5;
constexpr FrameIndex kAlone = 30;
// Frames of a continuing silence that are kept for later windows.
constexpr FrameIndex kKept = 60;
// A window without a pause is cut where the mean level over this many frames is lowest.
constexpr FrameIndex kQuietPlace = 20;

// Windows end at a stretch of nothing of this length. Models that always read 30 s cost the same for a short window,
// and their result does not depend on the window's end. For models that are encoded at the window's own length both
// differ.
constexpr FrameIndex kGapFull = 400;
constexpr FrameIndex kGapShort = 80;
// Where windows are filled, a stretch of nothing of this length is left out of them, except for a margin at either end.
constexpr FrameIndex kSkipped = 40;
constexpr FrameIndex kSkipMargin = 15;
// A window with its left-out stretches spans at most this many times the longest window.
constexpr FrameIndex kLongestSpan = 2;

// Speech continues over a shorter pause.
constexpr FrameIndex kShortestPause = 10;

// Limited to 68 years, which stands for any larger number.
FrameIndex to_frames(double seconds) {
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  return std::llround(std::min(seconds, kMost) * kFramesPerSecond);
}
double to_seconds(FrameIndex frames) { return static_cast<double>(frames) / kFramesPerSecond; }

std::unique_ptr<SpeechTracker> make_tracker(const VoiceActivityModel* voice) {
  if (voice == nullptr) return std::make_unique<SignalTracker>();
  return std::make_unique<VoiceTracker>(*voice);
}

}  // namespace

struct Segmenter::Impl {
  Impl(AudioReader& source, const WindowPolicy& rules, const VoiceActivityModel* voice)
      : reader(source),
        policy(rules),
        tracker(make_tracker(voice)),
        longest(std::max<FrameIndex>(1, static_cast<FrameIndex>(policy.max_seconds * kFramesPerSecond + 1e-6))),
        gap(policy.cut == WindowPolicy::Cut::kPause ? kGapShort : kGapFull) {}

  AudioReader& reader;
  const WindowPolicy policy;
  const std::unique_ptr<SpeechTracker> tracker;
  const FrameIndex longest;
  const FrameIndex gap;

  // Samples from frame `first` on.
  std::vector<float> samples;
  FrameIndex first = 0;
  std::int64_t total = 0;
  // The reader is at its end.
  bool ended = false;
  bool at_end = false;
  // Everything before this frame is returned or dropped.
  FrameIndex done = 0;
  // There is no signal from `done` to this frame.
  FrameIndex searched = 0;

  // Samples that may still be read in this call.
  std::int64_t readable = 0;

  // Reads until the frames before `frame` are labelled, or to the end. Returns false if that exceeds what this call may
  // read.
  bool know(FrameIndex frame) {
    while (!ended && tracker->labelled() < frame) {
      if (readable <= 0) return false;
      readable -= kFrame * kReadFrames;
      const std::size_t before = samples.size();
      samples.resize(before + kFrame * kReadFrames);
      const std::size_t count = reader.read(std::span(samples).subspan(before));
      samples.resize(before + count);
      total += static_cast<std::int64_t>(count);
      const auto fresh = std::span<const float>(samples).subspan(before);
      for (std::size_t at = 0; at < fresh.size(); at += kFrame) {
        tracker->push(fresh.subspan(at, std::min<std::size_t>(kFrame, fresh.size() - at)));
      }
      if (count < kFrame * kReadFrames) {
        ended = true;
        tracker->finish();
      }
    }
    return true;
  }

  void drop_before(FrameIndex frame) {
    const auto count = std::min<std::int64_t>((frame - first) * kFrame, static_cast<std::int64_t>(samples.size()));
    samples.erase(samples.begin(), samples.begin() + count);
    tracker->discard_before(frame);
    first = frame;
  }

  // First frame in [from, to) whose `label` is not `value`, else `to`.
  FrameIndex run_end(FrameIndex from, FrameIndex to, bool SpeechTracker::Frame::*label, bool value) const {
    while (from < to && tracker->at(from).*label == value) ++from;
    return from;
  }

  // First frame with signal behind `done`. Nothing at the end and when this call may read no more. Also nothing once
  // `silence_limit` frames without signal have passed; these are done then.
  std::optional<FrameIndex> find_signal(FrameIndex silence_limit) {
    constexpr auto kNothing = &SpeechTracker::Frame::nothing;
    FrameIndex& at = searched = std::max(searched, done);
    for (FrameIndex quiet_begin = at;;) {
      if (!know(at + kClick + kAlone + 1)) return std::nullopt;
      if (at >= tracker->labelled()) {
        at_end = true;
        done = at;
        return std::nullopt;
      }
      at = run_end(at, tracker->labelled(), kNothing, true);
      if (at == tracker->labelled()) {
        // The rest of the silence still shows whether a later click stands alone.
        if (at - quiet_begin >= kKept && at - kKept - done >= silence_limit) {
          done = at - kKept;
          drop_before(done);
          return std::nullopt;
        }
        drop_before(std::max(done, at - kKept));
        continue;
      }
      if (!know(at + kClick + kAlone + 1)) return std::nullopt;
      const FrameIndex limit = std::min(tracker->labelled(), at + kClick + kAlone);
      const FrameIndex sound_end = run_end(at, limit, kNothing, false);
      const FrameIndex quiet_end = run_end(sound_end, limit, kNothing, true);
      const bool alone_before = at - done >= kAlone || at == 0;
      const bool click =
          sound_end - at < kClick && alone_before && (quiet_end == limit || quiet_end - sound_end >= kAlone);
      if (!click) return at;
      at = quiet_begin = sound_end;
    }
  }

  // First frame of the first stretch of nothing below `to` that ends a window.
  std::optional<FrameIndex> find_gap(FrameIndex from, FrameIndex to) const {
    constexpr auto kNothing = &SpeechTracker::Frame::nothing;
    while (from < to) {
      from = run_end(from, to, kNothing, false);
      const FrameIndex end = run_end(from, tracker->labelled(), kNothing, true);
      const bool to_the_end = ended && end == tracker->labelled();
      if (from < to && (end - from >= gap || to_the_end)) return from;
      from = end;
    }
    return std::nullopt;
  }

  // Middle of the place in [from, to) with the lowest level.
  FrameIndex quietest(FrameIndex from, FrameIndex to) const {
    FrameIndex best = to;
    float least = std::numeric_limits<float>::max();
    for (FrameIndex at = from; at + kQuietPlace <= to; ++at) {
      float sum = 0;
      for (FrameIndex i = at; i < at + kQuietPlace; ++i) sum += tracker->at(i).level;
      if (sum < least) {
        least = sum;
        best = at + kQuietPlace / 2;
      }
    }
    return best;
  }

  struct Run {
    FrameIndex begin;
    FrameIndex end;
  };

  // Runs in [start, end) that are not low, between low stretches of at least `pause`.
  std::vector<Run> runs(FrameIndex start, FrameIndex end, FrameIndex pause) const {
    constexpr auto kLow = &SpeechTracker::Frame::low;
    std::vector<Run> found;
    for (FrameIndex at = run_end(start, end, kLow, true); at < end;) {
      const FrameIndex stop = run_end(at, end, kLow, false);
      if (!found.empty() && at - found.back().end < pause) {
        found.back().end = stop;
      } else {
        found.push_back({at, stop});
      }
      at = run_end(stop, end, kLow, true);
    }
    return found;
  }

  // The sounds in [start, end), between pauses.
  std::vector<Stretch> sounds(FrameIndex start, FrameIndex end) const {
    std::vector<Stretch> found;
    for (const auto& [begin, stop] : runs(start, end, shortest_pause())) {
      found.push_back({to_seconds(begin), to_seconds(stop)});
    }
    return found;
  }

  // Shortest pause at which a window is cut, in frames.
  FrameIndex shortest_pause() const {
    return static_cast<FrameIndex>(std::ceil(policy.min_pause_seconds * kFramesPerSecond - 1e-6));
  }

  // End of the window from `start` at one of the pauses before `end`; nothing if none is in reach. `natural`: the
  // signal itself ends at `end`.
  std::optional<FrameIndex> pause_cut(FrameIndex start, FrameIndex end, bool natural) const {
    const auto stretches = sounds(start, end);
    const double reach = policy.max_seconds - (stretches.empty() ? 0 : stretches[0].begin - to_seconds(start));
    const auto count = plan_first_window(stretches, reach);
    if (!count) return std::nullopt;
    const FrameIndex limit = std::min(start + longest, end);
    if (*count == stretches.size() && natural) return end <= limit ? std::optional(end) : std::nullopt;
    const FrameIndex pause = to_frames(stretches[*count - 1].end);
    const FrameIndex next = *count < stretches.size() ? to_frames(stretches[*count].begin) : end;
    const FrameIndex half = (pause + next) / 2;
    return std::min(half - pause <= kHalfPause ? half : pause + kMargin, limit);
  }

  // The stretches that are left out of a window from `start` to `end`.
  std::vector<Run> skipped(FrameIndex start, FrameIndex end) const {
    constexpr auto kNothing = &SpeechTracker::Frame::nothing;
    std::vector<Run> found;
    if (policy.cut == WindowPolicy::Cut::kPause) return found;
    for (FrameIndex at = run_end(start, end, kNothing, false); at < end;) {
      const FrameIndex stop = run_end(at, tracker->labelled(), kNothing, true);
      if (stop - at >= kSkipped && at + kSkipMargin < end)
        found.push_back({at + kSkipMargin, std::min(stop - kSkipMargin, end)});
      at = run_end(stop, end, kNothing, false);
    }
    return found;
  }

  // End of the longest allowed window from `start`, or of what is known. Nothing when this call may read no more.
  std::optional<FrameIndex> reach(FrameIndex start) {
    for (FrameIndex limit = start + longest;;) {
      if (!know(limit + kLookAhead)) return std::nullopt;
      if (limit > tracker->labelled()) return tracker->labelled();
      FrameIndex left_out = 0;
      for (const auto& [begin, end] : skipped(start, limit)) left_out += end - begin;
      const FrameIndex next = std::min(start + longest + left_out, start + kLongestSpan * longest);
      if (next <= limit) return limit;
      limit = next;
    }
  }

  // Nothing when this call may read no more.
  std::optional<FrameIndex> choose_end(FrameIndex start) {
    // The kPause policy looks one window further, to see what a cut leaves for the next.
    const bool pauses = policy.cut == WindowPolicy::Cut::kPause;
    if (pauses && !know(start + 2 * longest)) return std::nullopt;
    const auto most = reach(start);
    if (!most) return std::nullopt;
    const FrameIndex limit = *most;
    const FrameIndex known = tracker->labelled();
    FrameIndex end = pauses ? std::min(start + 2 * longest, known) : limit;
    bool natural = ended && end == known;
    if (const auto nothing = find_gap(start, end)) {
      end = std::min(*nothing + kMargin, end);
      natural = true;
    }
    if (pauses) {
      if (const auto cut = pause_cut(start, end, natural)) return *cut;
    }
    if (natural && end <= limit) return end;
    return quietest(std::max(start + 1, limit - to_frames(policy.search_seconds)), limit);
  }

  Window take(FrameIndex start, FrameIndex end) const {
    Window window{.samples = {}, .start_sample = start * kFrame};
    FrameIndex at = start;
    for (const auto& [from, to] : skipped(start, end)) {
      append(window, at, from);
      if (to < end) window.skips.push_back({window.samples.size(), (to - from) * kFrame});
      at = to;
    }
    append(window, at, end);
    return window;
  }

  // Appends the samples in [from, to), and their speech spans, to the window.
  void append(Window& window, FrameIndex from, FrameIndex to) const {
    const auto before = static_cast<std::int64_t>(window.samples.size());
    const auto size = static_cast<std::int64_t>(samples.size());
    window.samples.insert(window.samples.end(), samples.begin() + std::min(size, (from - first) * kFrame),
                          samples.begin() + std::min(size, (to - first) * kFrame));
    for (const auto& [begin, stop] : runs(from, to, kShortestPause)) {
      if (stop - begin < kClick) continue;
      const std::int64_t start = before + (begin - from) * kFrame;
      window.speech.push_back(
          {static_cast<std::size_t>(start),
           std::min(window.samples.size(), static_cast<std::size_t>(start + (stop - begin) * kFrame))});
    }
  }

  std::optional<Window> next(FrameIndex silence_limit) {
    const auto signal = find_signal(silence_limit);
    if (!signal) return std::nullopt;
    const FrameIndex start = *signal - done <= kHalfPause ? done : *signal - kMargin;
    drop_before(start);
    const auto end = choose_end(start);
    if (!end) return std::nullopt;
    Window window = take(start, *end);
    done = *end;
    return window;
  }
};

Segmenter::Segmenter(AudioReader& reader, const WindowPolicy& policy, const VoiceActivityModel* voice) {
  check_window_policy(policy);
  impl_ = std::make_unique<Impl>(reader, policy, voice);
}
Segmenter::~Segmenter() = default;

std::optional<Window> Segmenter::next(const Effort& effort) {
  impl_->readable = to_frames(effort.read_seconds) * kFrame;
  return impl_->next(to_frames(effort.silence_seconds));
}

bool Segmenter::at_end() const noexcept { return impl_->at_end; }

std::int64_t Segmenter::position() const noexcept { return std::min(impl_->done * kFrame, impl_->total); }

}  // namespace verbatim

#include "speech/parakeet/cpu_slot.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "error.h"
#include "milliseconds_since.h"
#include "speech/parakeet/punctuation.h"
#include "speech/parakeet/segments.h"
#include "speech/parakeet/window_request.h"
#include "thread_count.h"

namespace verbatim::parakeet {
namespace {

using Clock = std::chrono::steady_clock;

// An encoder position is eight frames of 10 ms.
double seconds_of(std::int64_t position) { return static_cast<double>(8 * position) / 100.0; }

std::shared_ptr<const CpuModel> with_threads(std::shared_ptr<const CpuModel> model, int threads) {
  require_thread_count(threads);
  return model;
}

}  // namespace

CpuSlot::CpuSlot(std::shared_ptr<const CpuModel> model, int threads, const transformer::Kernels& kernels)
    : model_(with_threads(std::move(model), threads)),
      encoder_(model_->encoder(), model_->file().shape, threads, kernels),
      transducer_(model_->transducer(), kernels) {}

WindowResult CpuSlot::transcribe(const Window& window, const DecodeOptions& options, const AbortFlag* abort) {
  if (!is_decoded(window, options, model_->longest_window_seconds(), abort)) {
    return make_result({}, window, options, {});
  }
  try {
    return decode(window, options, abort);
  } catch (const EngineError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw EngineError(ErrorCode::kOutOfMemory, "no memory for a window");
  } catch (const std::exception& error) {
    throw EngineError(ErrorCode::kInternalError, std::string("the accelerator failed: ") + error.what());
  }
}

WindowResult CpuSlot::decode(const Window& window, const DecodeOptions& options, const AbortFlag* abort) {
  Timings timings;
  const auto start = Clock::now();
  const MelSpectrogram mel = model_->mel().spectrogram(window.samples);
  timings.mel_ms = milliseconds_since(start);
  const auto encoding = Clock::now();
  const std::vector<float>& encoded = encoder_.encode(mel, abort);
  timings.encode_ms = milliseconds_since(encoding);
  timings.encoder_passes = 1;
  const auto decoding = Clock::now();
  const std::vector<TimedToken> tokens = timed(transducer_.decode(encoded, abort));
  timings.decode_ms = milliseconds_since(decoding);
  return make_result(tokens, window, options, timings);
}

// A punctuation mark has no sound: its time is the end of the piece before it.
std::vector<TimedToken> CpuSlot::timed(const std::vector<DecodedToken>& tokens) const {
  const std::vector<std::string>& pieces = model_->file().pieces;
  std::vector<TimedToken> all;
  double end = -1.0;
  for (const DecodedToken& token : tokens) {
    const std::string& piece = pieces[static_cast<std::size_t>(token.piece)];
    double from = seconds_of(token.position);
    double to = seconds_of(token.position + token.duration);
    if (!is_punctuation(piece)) {
      end = to;
    } else if (end >= 0.0) {
      from = to = end;
    }
    std::string text = text_of_piece(piece);
    if (!text.empty()) all.push_back({{token.piece, std::move(text), token.probability}, from, to});
  }
  return all;
}

std::size_t CpuSlot::memory_bytes() const noexcept { return encoder_.memory_bytes() + transducer_.memory_bytes(); }

}  // namespace verbatim::parakeet

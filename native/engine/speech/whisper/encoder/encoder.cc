#include "speech/whisper/encoder/encoder.h"

#include <new>
#include <utility>

#include "error.h"
#include "require_option.h"
#include "speech/whisper/encoder/cpu_encoder.h"
#include "speech/whisper/encoder/graph_encoder.h"

namespace verbatim::whisper {
namespace {

constexpr int kMostPositions = 1500;

[[noreturn]] void fail_for_memory() { throw EngineError(ErrorCode::kOutOfMemory, "no memory for the encoder"); }

}  // namespace

EncoderRun::EncoderRun(const Model& model, const MelSpectrogram& mel, int first_frame, int positions,
                       transformer::CrossCache& target)
    : mel_(mel), first_frame_(first_frame), positions_(positions), target_(target) {
  require_option(positions >= 1 && positions <= kMostPositions, "positions", positions, "1 to 1500");
  require_option(first_frame >= 0, "first_frame", first_frame, "0 or more");
  steps_ = encoder_steps(model.shape(), positions);
  unit_ends_ = unit_ends(steps_);
}

bool Encoder::advance(EncoderRun& run, const AbortFlag* abort) {
  if (run.complete()) return true;
  if (abort != nullptr && abort->is_set()) throw EngineError(ErrorCode::kAborted, "aborted by the caller");
  const std::size_t first = run.next_unit_ == 0 ? 0 : run.unit_ends_[run.next_unit_ - 1];
  const std::size_t end = run.unit_ends_[run.next_unit_];
  try {
    if (!run.state_) run.state_ = begin(run);
    compute(run, std::span(run.steps_).subspan(first, end - first), *run.state_);
  } catch (const std::bad_alloc&) {
    fail_for_memory();
  }
  if (++run.next_unit_ == run.unit_ends_.size()) run.state_.reset();
  return run.complete();
}

std::unique_ptr<Encoder> make_encoder(std::shared_ptr<const Model> model, int threads) {
  if (model->cpu_encoder_weights() != nullptr) return std::make_unique<CpuEncoder>(std::move(model), threads);
  return std::make_unique<GraphEncoder>(std::move(model), threads);
}

}  // namespace verbatim::whisper

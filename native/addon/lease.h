#pragma once

#include <memory>
#include <utility>

#include "error.h"

namespace verbatim::addon {

// Exclusive use of a native object that takes one call at a time; the running work holds the lease. It keeps the object
// alive, so that close() defers freeing it, and turns an overlapping call into an error instead of a race. State has a
// `bool busy`, which only the JS thread uses: leases are made and dropped there.
template <typename State>
class Lease {
 public:
  // Throws EngineError kInvalidArgument while another call runs.
  explicit Lease(std::shared_ptr<State> state) : state_(std::move(state)) {
    if (state_->busy) {
      state_.reset();
      throw EngineError(ErrorCode::kInvalidArgument,
                        "An earlier call on this object is still running; calls must not overlap.");
    }
    state_->busy = true;
  }
  ~Lease() {
    if (state_) state_->busy = false;
  }
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&&) = delete;

  State& operator*() const noexcept { return *state_; }
  State* operator->() const noexcept { return state_.get(); }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace verbatim::addon

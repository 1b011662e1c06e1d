#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace verbatim::accel {

// The weights of one model in the layout and type the accelerator multiplies in; filled as they are first
// used, shared by the model's slots. Owned by the model, so that packed copies never outlive the weights they
// were made of. Safe to use from many threads.
class WeightStore;

// "onednn bfloat16" or "onednn float32": built in, and this CPU gains by it. Empty: there is none.
std::string accelerator_name();

// Bytes of one packed value; 0 where there is no accelerator.
std::size_t operand_size();

// A store for a model's packed weights; null where there is no accelerator. The first call registers the
// accelerator as a ggml device for the rest of the process: ggml cannot take a device back. Registered, it
// serves only states that are made inside a StateScope.
std::shared_ptr<WeightStore> make_weight_store();

// Bytes of packed weights so far; 0 for null.
std::size_t packed_bytes(const WeightStore* store) noexcept;

// While it lives, whisper states made on this thread compute their large products on the accelerator, with
// weights packed in `store`; with a null store they do not. Scopes do not nest.
class StateScope {
 public:
  explicit StateScope(std::shared_ptr<WeightStore> store);
  ~StateScope();
  StateScope(const StateScope&) = delete;
  StateScope& operator=(const StateScope&) = delete;
};

}  // namespace verbatim::accel

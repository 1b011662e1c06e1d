#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace verbatim {

// Of a model on a CPU. kAuto: the encoder's large products run on the accelerator where there is one, in the
// fastest type it has (bfloat16 where the CPU multiplies that, else float32). kFloat32: the same in float32,
// which rounds less than whisper.cpp's float16 does.
enum class AcceleratorMode { kOff, kFloat32, kAuto };

}  // namespace verbatim

namespace verbatim::accelerator {

// The weights of one model in the layout and type the accelerator multiplies in; filled as they are first
// used, shared by the model's slots. Owned by the model, so that packed copies never outlive the weights they
// were made of. Safe to use from many threads.
class WeightStore;

// "onednn bfloat16" or "onednn float32"; empty for null.
std::string name(const WeightStore* store);

// Bytes of one packed value; 0 for null.
std::size_t operand_size(const WeightStore* store) noexcept;

// Makes the accelerator a backend device of ggml for the rest of the process; ggml cannot take one back, and
// its list of devices is not guarded. So it is registered before anything reads that list (list_devices()
// sees to it), whether or not a model will use it: it serves only states that are made inside a StateScope.
void register_backend_device();

// A store for a model's packed weights; null for kOff and where there is no accelerator. Registers it.
std::shared_ptr<WeightStore> make_weight_store(AcceleratorMode accelerator);

// Bytes that one state's products and attention of a full window need, about, on so many threads; 0 for null.
// state: the width of the encoder.
std::size_t workspace_bytes(const WeightStore* store, std::size_t state, int threads) noexcept;

// Bytes of packed weights so far; 0 for null.
std::size_t packed_bytes(const WeightStore* store) noexcept;

// Products with a packed weight that were computed so far, in all states; 0 for null.
std::uint64_t computed_products(const WeightStore* store) noexcept;

// While it lives, models that this thread loads keep their weights in the CPU's memory as their file has
// them, unless `store` is null. ggml repacks weights of some types as it loads them (on x86 q4_0 and some
// q*_k, with AMX f16, q4_1 and q8_0 as well) and then nothing else can read them: the encoder would run on
// ggml alone. Scopes do not nest.
class LoadScope {
 public:
  explicit LoadScope(const WeightStore* store);
  ~LoadScope();
  LoadScope(const LoadScope&) = delete;
  LoadScope& operator=(const LoadScope&) = delete;
};

// While it lives, whisper states made on this thread compute their large products on the accelerator, with
// weights packed in `store`; with a null store they do not. Scopes do not nest.
class StateScope {
 public:
  explicit StateScope(std::shared_ptr<WeightStore> store);
  ~StateScope();
  // Whether a state made in this scope leaves products with the model's weights to the accelerator.
  bool took_weights() const noexcept;
  StateScope(const StateScope&) = delete;
  StateScope& operator=(const StateScope&) = delete;
};

}  // namespace verbatim::accelerator

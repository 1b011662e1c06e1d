#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace verbatim {

// For a model on a CPU whose encoder does not compute in int8 (load_recogniser.h). kAuto: the encoder's large products
// run on the accelerator if there is one, in its fastest type: bfloat16 if the CPU multiplies that, else float32.
// kFloat32: the same in float32, which rounds less than whisper.cpp's float16.
enum class AcceleratorMode { kOff, kFloat32, kAuto };

}  // namespace verbatim

namespace verbatim::accelerator {

// The weights of one model in the accelerator's layout and type. Packed on first use and shared by the model's slots.
// The model owns the store, so that packed copies never outlive the weights they were made of. Safe to use from many
// threads.
class WeightStore;

// "onednn bfloat16" or "onednn float32"; empty for null.
std::string name(const WeightStore* store);

// Bytes of one packed value; 0 for null.
std::size_t operand_size(const WeightStore* store) noexcept;

// Makes the accelerator a ggml backend device for the rest of the process. ggml cannot remove a device, and its device
// list is not thread-safe. list_devices() therefore registers the device before anything reads the list, whether or not
// a model uses it. It serves only states that are made within a StateScope.
void register_backend_device();

// A store for a model's packed weights; null for kOff and without an accelerator. Registers the backend device.
std::shared_ptr<WeightStore> make_weight_store(AcceleratorMode accelerator);

// Approximate bytes that one state's products and attention of a full window need on `threads` threads; 0 for null.
// state: width of the encoder.
std::size_t workspace_bytes(const WeightStore* store, std::size_t state, int threads) noexcept;

// Bytes of the weights packed so far; 0 for null.
std::size_t packed_bytes(const WeightStore* store) noexcept;

// Number of products with a packed weight so far, in all states; 0 for null.
std::uint64_t computed_products(const WeightStore* store) noexcept;

// While it lives, models that this thread loads keep their weights in the CPU's memory in the file's layout, unless
// `store` is null. ggml otherwise repacks weights of some types at load (on x86 q4_0 and some q*_k), which only ggml
// itself can read: the encoder would run on ggml alone. Scopes do not nest.
class LoadScope {
 public:
  explicit LoadScope(const WeightStore* store);
  ~LoadScope();
  LoadScope(const LoadScope&) = delete;
  LoadScope& operator=(const LoadScope&) = delete;
};

// While it lives, whisper states made on this thread compute their large products on the accelerator, with weights
// packed in `store`. With a null store they do not. Scopes do not nest.
class StateScope {
 public:
  explicit StateScope(std::shared_ptr<WeightStore> store);
  ~StateScope();
  // Whether a state made in this scope uses the accelerator for products with the model's weights.
  bool took_weights() const noexcept;
  StateScope(const StateScope&) = delete;
  StateScope& operator=(const StateScope&) = delete;
};

}  // namespace verbatim::accelerator

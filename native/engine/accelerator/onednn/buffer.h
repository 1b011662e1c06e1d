#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace verbatim::accelerator {

// Uninitialised memory on a cache line boundary. It only grows, and growing discards its contents.
class Buffer {
 public:
  // Throws std::bad_alloc.
  void* reserve(std::size_t bytes) {
    if (bytes > size_) {
      data_.reset();
      size_ = 0;
      data_.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment)));
      size_ = bytes;
    }
    return data_.get();
  }
  template <typename T>
  T* reserve_as(std::size_t count) {
    return static_cast<T*>(reserve(count * sizeof(T)));
  }
  std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* data) const noexcept { ::operator delete(data, kAlignment); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace verbatim::accelerator

#include "allocator.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace verbatim::addon {

void settle_allocator() noexcept {
#if defined(__GLIBC__)
  [[maybe_unused]] static const bool settled = [] {
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    mallopt(M_ARENA_MAX, 2);
    return true;
  }();
#endif
}

}  // namespace verbatim::addon

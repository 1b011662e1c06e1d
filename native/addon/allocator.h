#pragma once

namespace verbatim::addon {

// Sets the C allocator of the process up for a long life, once. glibc raises its threshold for memory of its
// own pages to the largest block it has seen freed (mallopt(3), M_MMAP_THRESHOLD), so that the megabytes of a
// window or of a whisper_state come from the heaps of many threads and leave holes: two thousand requests for
// odd files took resident memory from 200 to 400 MiB, and with these settings to 205.
void settle_allocator() noexcept;

}  // namespace verbatim::addon

#pragma once

#include <cstddef>
#include <functional>

namespace verbatim::transformer {

// Runs task(index, thread) for every index below count, with thread below `threads`; which thread takes which index is
// open. Throws what a task throws, after the others have ended. Without OpenMP in the build the calling thread runs
// them all.
//
// OpenMP keeps the other threads for the calling thread's next loop; a loop on one thread ends them. So a caller that
// has many threads now and then does not keep as many for ever.
void for_each(std::size_t count, int threads, const std::function<void(std::size_t index, std::size_t thread)>& task);

}  // namespace verbatim::transformer

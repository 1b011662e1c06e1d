#pragma once

#include <cstddef>
#include <functional>

namespace verbatim::transformer {

// Runs task(index, thread) for every index below count, with thread below `threads`; which thread takes which index is
// open. Throws what a task throws, after the others have ended. Without OpenMP in the build the calling thread runs
// them all.
void for_each(std::size_t count, int threads, const std::function<void(std::size_t index, std::size_t thread)>& task);

}  // namespace verbatim::transformer

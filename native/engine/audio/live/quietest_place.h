#pragma once

#include <cstddef>
#include <span>

namespace verbatim {

// The middle of the 200 ms with the lowest mean level (of frames of 10 ms), as the segmenter cuts a window without a
// pause. Returns the size where the samples, at 16 kHz, are shorter.
std::size_t quietest_place(std::span<const float> samples);

}  // namespace verbatim

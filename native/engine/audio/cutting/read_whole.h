#pragma once

#include <filesystem>

#include "audio/cutting/window.h"

namespace verbatim {

// A whole file as one window, for short clips: memory grows with the file. Throws as AudioReader does.
Window read_whole(const std::filesystem::path& path);

}  // namespace verbatim

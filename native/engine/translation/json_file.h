#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace verbatim::translation {

// Reads and parses a JSON file of at most 256 MB. Throws EngineError: kIoError, kInvalidModel (malformed).
nlohmann::json read_json(const std::filesystem::path& path);

}  // namespace verbatim::translation

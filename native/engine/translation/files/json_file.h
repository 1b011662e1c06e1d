#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace verbatim::translation {

// Parses JSON text; `name` is for the error message. Throws EngineError kInvalidModel.
nlohmann::json parse_json(std::string_view text, const std::string& name);

// Reads and parses a JSON file of at most 256 MB. Throws EngineError: kIoError, kInvalidModel (malformed).
nlohmann::json read_json(const std::filesystem::path& path);

}  // namespace verbatim::translation

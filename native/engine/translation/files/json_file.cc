#include "translation/files/json_file.h"

#include "error.h"
#include "mapped_file.h"

namespace verbatim::translation {

nlohmann::json parse_json(std::string_view text, const std::string& name) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw EngineError(ErrorCode::kInvalidModel, name + " is not valid JSON: " + error.what());
  }
}

nlohmann::json read_json(const std::filesystem::path& path) {
  constexpr std::size_t kLargest = 256u << 20;
  const MappedFile file(path);
  const auto bytes = file.bytes();
  if (bytes.size() > kLargest) throw EngineError(ErrorCode::kInvalidModel, path.string() + " is larger than 256 MB");
  return parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

}  // namespace verbatim::translation

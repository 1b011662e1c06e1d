#include "translation/json_file.h"

#include "error.h"
#include "translation/mapped_file.h"

namespace verbatim::translation {

nlohmann::json read_json(const std::filesystem::path& path) {
  constexpr std::size_t kLargest = 256u << 20;
  const MappedFile file(path);
  const auto bytes = file.bytes();
  if (bytes.size() > kLargest)
    throw EngineError(ErrorCode::kInvalidModel, path.string() + " is larger than 256 MB");
  const char* begin = reinterpret_cast<const char*>(bytes.data());
  try {
    return nlohmann::json::parse(begin, begin + bytes.size());
  } catch (const nlohmann::json::exception& error) {
    throw EngineError(ErrorCode::kInvalidModel, path.string() + " is not valid JSON: " + error.what());
  }
}

}  // namespace verbatim::translation

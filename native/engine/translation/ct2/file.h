#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mapped_file.h"
#include "transformer/element_type.h"

// Reader of CTranslate2's model.bin, binary versions 1 to 6 (little endian, nothing aligned). It parses the container
// only: names, shapes, types, payloads and aliases.
namespace verbatim::translation {

struct Ct2Variable {
  transformer::ElementType type = transformer::ElementType::kFloat32;
  // Row major, last dimension contiguous; empty for a scalar.
  std::vector<std::uint32_t> shape;
  // prod(shape) elements, unaligned; valid as long as the file.
  std::span<const std::byte> data;

  bool is_scalar() const noexcept { return shape.empty(); }
  std::size_t size() const noexcept { return data.size() / transformer::element_size(type); }
  // Element `index` as a float, without any quantization scale. index < size().
  float at(std::size_t index) const noexcept { return transformer::element_at(data.data(), type, index); }
};

class Ct2File {
 public:
  // The newest supported binary version.
  static constexpr std::uint32_t kNewestVersion = 6;

  // Maps and parses the file. Throws EngineError: kIoError, kInvalidModel with what is wrong and where.
  static Ct2File open(const std::filesystem::path& path);
  // Parses bytes that the caller keeps alive. Memory is bounded by the bytes themselves, whatever sizes they contain.
  // Throws EngineError kInvalidModel.
  static Ct2File parse(std::span<const std::byte> bytes);

  // Call after most weights have been read for the last time: the process's memory shrinks by as much.
  void drop_pages() const noexcept { file_.drop_pages(); }

  std::uint32_t version() const noexcept { return version_; }
  // Empty in version 1.
  const std::string& spec_name() const noexcept { return spec_name_; }
  std::uint32_t revision() const noexcept { return revision_; }

  // The variable of that name or alias, or null.
  const Ct2Variable* find(std::string_view name) const;
  // By their own names, without aliases; ordered.
  const std::map<std::string, Ct2Variable, std::less<>>& variables() const noexcept { return variables_; }
  // alias -> own name.
  const std::map<std::string, std::string, std::less<>>& aliases() const noexcept { return aliases_; }

 private:
  class Parser;

  MappedFile file_;
  std::uint32_t version_ = 0;
  std::string spec_name_;
  std::uint32_t revision_ = 1;
  std::map<std::string, Ct2Variable, std::less<>> variables_;
  std::map<std::string, std::string, std::less<>> aliases_;
};

}  // namespace verbatim::translation

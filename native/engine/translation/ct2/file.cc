#include "translation/ct2/file.h"

#include <bit>
#include <utility>

#include "error.h"
#include "load_unaligned.h"

namespace verbatim::translation {

static_assert(std::endian::native == std::endian::little, "model.bin is little endian");

// Reads the bytes once; every read is checked against the bytes that are left.
class Ct2File::Parser {
 public:
  Parser(std::span<const std::byte> bytes, Ct2File& file) : bytes_(bytes), file_(file) {}

  void run() {
    read_header();
    const auto count = read<std::uint32_t>("the number of variables");
    for (std::uint32_t i = 0; i < count; ++i) read_variable(i, count);
    if (file_.version_ >= 3) read_aliases();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw EngineError(ErrorCode::kInvalidModel, "model.bin: " + what);
  }

  std::span<const std::byte> take(std::size_t size, const std::string& what) {
    const std::size_t left = bytes_.size() - position_;
    if (size > left) {
      fail("truncated at byte " + std::to_string(position_) + ": " + what + " needs " + std::to_string(size) +
           " bytes, " + std::to_string(left) + " are left");
    }
    const auto part = bytes_.subspan(position_, size);
    position_ += size;
    return part;
  }

  template <typename T>
  T read(const std::string& what) {
    return load_unaligned<T>(take(sizeof(T), what).data());
  }

  // A string: u16 N, then N bytes, the last of them NUL.
  std::string read_string(const std::string& what) {
    const auto size = read<std::uint16_t>("the length of " + what);
    if (size == 0) fail(what + " has length 0 at byte " + std::to_string(position_));
    const auto part = take(size, what);
    if (part.back() != std::byte{0}) fail(what + " is not terminated at byte " + std::to_string(position_));
    std::string text(reinterpret_cast<const char*>(part.data()), size - 1u);
    if (text.find('\0') != std::string::npos) fail(what + " contains a NUL byte");
    return text;
  }

  void read_header() {
    file_.version_ = read<std::uint32_t>("the binary version");
    if (file_.version_ < 1 || file_.version_ > kNewestVersion) {
      fail("binary version " + std::to_string(file_.version_) + " is not supported; versions 1 to " +
           std::to_string(kNewestVersion) + " are (is this a CTranslate2 model?)");
    }
    if (file_.version_ < 2) return;
    file_.spec_name_ = read_string("the spec name");
    file_.revision_ = read<std::uint32_t>("the spec revision");
  }

  void read_variable(std::uint32_t index, std::uint32_t count) {
    const std::string position = std::to_string(index + 1) + " of " + std::to_string(count);
    std::string name = read_string("the name of variable " + position);
    Ct2Variable variable;
    const auto rank = read<std::uint8_t>("the rank of " + name);
    const auto dimensions = take(std::size_t{rank} * 4, "the shape of " + name);
    std::uint64_t elements = 1;
    for (std::size_t i = 0; i < rank; ++i) {
      const auto size = load_unaligned<std::uint32_t>(dimensions.data() + i * 4);
      variable.shape.push_back(size);
      // No payload can exceed the file, so the product saturates there and cannot overflow.
      elements = size != 0 && elements > bytes_.size() / size ? bytes_.size() + 1 : elements * size;
    }
    read_payload(name, elements, variable);
    if (!file_.variables_.try_emplace(name, std::move(variable)).second) fail(name + " appears twice");
  }

  void read_payload(const std::string& name, std::uint64_t elements, Ct2Variable& variable) {
    const auto code = read<std::uint8_t>("the type of " + name);
    std::uint64_t size = read<std::uint32_t>("the size of " + name);
    if (file_.version_ >= 4) {
      if (code > static_cast<std::uint8_t>(transformer::ElementType::kBfloat16))
        fail(name + " has unknown type " + std::to_string(code));
      variable.type = static_cast<transformer::ElementType>(code);
    } else {
      variable.type = type_of_item_size(name, code);
      size *= code;
    }
    if (elements > bytes_.size() || size != elements * transformer::element_size(variable.type)) {
      fail(name + ": " + std::to_string(size) + " bytes do not fit its shape and type " +
           std::string(transformer::element_type_name(variable.type)));
    }
    variable.data = take(size, "the values of " + name);
  }

  transformer::ElementType type_of_item_size(const std::string& name, std::uint8_t size) const {
    if (size == 4) return transformer::ElementType::kFloat32;
    if (size == 2) return transformer::ElementType::kInt16;
    if (size == 1) return transformer::ElementType::kInt8;
    fail(name + " has items of " + std::to_string(size) + " bytes; 1, 2 and 4 are known");
  }

  void read_aliases() {
    const auto count = read<std::uint32_t>("the number of aliases");
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string alias = read_string("an alias");
      const std::string target = read_string("the target of alias " + alias);
      if (!file_.variables_.contains(target)) fail("alias " + alias + " points to " + target + ", which is not there");
      add_alias(alias, target);
      for (const char* suffix : {"_scale", "_zero"}) {
        if (!file_.variables_.contains(target + suffix) || file_.variables_.contains(alias + suffix)) continue;
        add_alias(alias + suffix, target + suffix);
      }
    }
  }

  void add_alias(const std::string& alias, const std::string& target) {
    if (file_.variables_.contains(alias)) fail("alias " + alias + " has the name of a variable");
    file_.aliases_.insert_or_assign(alias, target);
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  Ct2File& file_;
};

Ct2File Ct2File::open(const std::filesystem::path& path) {
  MappedFile mapped(path);
  Ct2File file = parse(mapped.bytes());
  file.file_ = std::move(mapped);
  return file;
}

Ct2File Ct2File::parse(std::span<const std::byte> bytes) {
  Ct2File file;
  Parser(bytes, file).run();
  return file;
}

const Ct2Variable* Ct2File::find(std::string_view name) const {
  const auto alias = aliases_.find(name);
  const auto variable = variables_.find(alias == aliases_.end() ? name : std::string_view(alias->second));
  return variable == variables_.end() ? nullptr : &variable->second;
}

}  // namespace verbatim::translation

#include "transformer/cpu/weight_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

#include "checksum.h"
#include "error.h"
#include "file_descriptor.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::transformer {
namespace {

// Must be raised with every change of what PackedMatrix, PackedLinear or a model's weights write, or of the header. A
// test compares packed weights with recorded ones.
constexpr std::uint32_t kFormat = 1;

// Processors of one architecture pack and read the same layout, whatever kernels they have.
#if defined(__x86_64__)
constexpr const char* kArchitecture = "x86-64";
#elif defined(__aarch64__)
constexpr const char* kArchitecture = "aarch64";
#else
constexpr const char* kArchitecture = "other";
#endif

// The header and zeros.
constexpr std::size_t kHeaderBytes = 4096;
constexpr std::size_t kPiece = 1 << 20;

struct Header {
  std::array<char, 32> magic{};
  std::uint32_t format = kFormat;
  std::uint32_t panel_outputs = kPanelOutputs;
  std::array<char, 32> architecture{};
  std::array<char, 64> name{};
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
  FileIdentity source;
  std::uint64_t source_checksum = 0;
  // Of the members before it.
  std::uint64_t header_checksum = 0;

  std::uint64_t own_checksum() const noexcept {
    return verbatim::checksum(std::as_bytes(std::span(this, 1)).first(offsetof(Header, header_checksum)));
  }
};
static_assert(sizeof(Header) == 200 && sizeof(Header) <= kHeaderBytes, "a header has no padding");

template <std::size_t Size>
void set_text(std::array<char, Size>& field, const std::string& text) {
  std::copy_n(text.begin(), std::min(text.size(), Size - 1), field.begin());
}

// A header without checksums.
Header header_of(const WeightKey& key, const WeightSource& source) {
  Header header;
  set_text(header.magic, "verbatim packed weights\n");
  set_text(header.architecture, kArchitecture);
  set_text(header.name, key.name());
  header.bytes = key.bytes;
  header.source = source.identity;
  return header;
}

std::string system_error(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

// Whether the file is for these weights of this model.
bool is_for(const Header& found, const WeightKey& key, const WeightSource& source) {
  const Header wanted = header_of(key, source);
  if (std::memcmp(&found, &wanted, offsetof(Header, checksum)) != 0) return false;
  if (found.source == source.identity) return true;
  return found.source.size == source.identity.size && found.source_checksum == source.checksum();
}

bool read_at(const FileDescriptor& file, std::span<std::byte> out, std::size_t offset) {
  while (!out.empty()) {
    const ssize_t count = ::pread(file.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    out = out.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::size_t>(count);
  }
  return true;
}

// Reads the header of a file that is right for these weights. Returns what is wrong with the file, or an empty text:
// then it is stale unless `header` has a value.
std::string read_header(const FileDescriptor& file, const WeightKey& key, const WeightSource& source,
                        std::optional<Header>& header) {
  Header found;
  if (!read_at(file, std::as_writable_bytes(std::span(&found, 1)), 0)) return "its header cannot be read";
  if (found.header_checksum != found.own_checksum()) return "its header is damaged";
  if (!is_for(found, key, source)) return {};
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return system_error("fstat");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size != kHeaderBytes + key.bytes) {
    return "it has " + std::to_string(size) + " bytes instead of " + std::to_string(kHeaderBytes + key.bytes);
  }
  header = found;
  return {};
}

constexpr const char* kWrongChecksum = "the checksum of its weights is wrong";

// Weights in the page cache; null if the system cannot share them so, or they are in small pages and should not be.
std::optional<HugeBlock> mapped(const FileDescriptor& file, const WeightKey& key, WeightSharing sharing) {
  HugeBlock block = HugeBlock::of_file(file, kHeaderBytes + key.bytes);
  if (block.data() == nullptr || !block.read_all()) return std::nullopt;
  if (sharing != WeightSharing::kAlways && !block.is_in_huge_pages()) return std::nullopt;
  return block;
}

std::string copy_weights(const FileDescriptor& file, std::span<std::byte> out, std::uint64_t expected) {
  Checksum sum;
  for (std::size_t first = 0; first < out.size(); first += kPiece) {
    const std::span<std::byte> piece = out.subspan(first, std::min(kPiece, out.size() - first));
    if (!read_at(file, piece, kHeaderBytes + first)) return system_error("it cannot be read");
    sum.add(piece);
  }
  return sum.value() == expected ? std::string() : kWrongChecksum;
}

WeightReading read_checked(const FileDescriptor& file, const WeightKey& key, const Header& header,
                           WeightSharing sharing) {
  WeightReading reading;
  if (std::optional<HugeBlock> block = mapped(file, key, sharing)) {
    const std::span<const std::byte> weights(block->data() + kHeaderBytes, key.bytes);
    if (checksum(weights) != header.checksum) {
      reading.problem = kWrongChecksum;
      return reading;
    }
    reading.memory.emplace(std::move(*block), weights);
    reading.is_shared = true;
  } else if (sharing != WeightSharing::kOrNothing) {
    HugeBlock copy(key.bytes, "weights");
    const std::span<std::byte> weights(copy.data(), key.bytes);
    reading.problem = copy_weights(file, weights, header.checksum);
    if (reading.problem.empty()) reading.memory.emplace(std::move(copy), weights);
  }
  return reading;
}

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw EngineError(ErrorCode::kIoError, system_error(("cannot write " + path.string()).c_str()));
}

// A new file beside `path`, under a name of its own, which is removed unless it takes the place of `path`.
class PartFile {
 public:
  explicit PartFile(const std::filesystem::path& path) : path_(path), part_(name_beside(path)), file_(open(part_)) {}
  ~PartFile() {
    if (!part_.empty()) ::unlink(part_.c_str());
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(part_);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }

  // What is on the disk must be what is in the page cache before anybody maps it.
  void finish() {
    if (::fsync(file_.get()) != 0) fail(part_);
    if (::rename(part_.c_str(), path_.c_str()) != 0) fail(path_);
    part_.clear();
  }

 private:
  static std::filesystem::path name_beside(const std::filesystem::path& path) {
    std::random_device random;
    std::array<char, 24> name{};
    std::snprintf(name.data(), name.size(), ".%08x.part", static_cast<unsigned>(random()));
    return path.string() + name.data();
  }
  static FileDescriptor open(const std::filesystem::path& path) {
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.get() < 0) fail(path);
    return file;
  }

  std::filesystem::path path_;
  // Empty once it is renamed.
  std::filesystem::path part_;
  FileDescriptor file_;
};

}  // namespace

std::string WeightKey::name() const { return part + "-" + std::string(compute_type_name(type)); }

WeightReading read_weights(const std::filesystem::path& path, const WeightKey& key, const WeightSource& source,
                           WeightSharing sharing) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return {.problem = errno == ENOENT ? std::string() : system_error("it cannot be opened")};
  std::optional<Header> header;
  std::string problem = read_header(file, key, source, header);
  if (!header) return {.problem = std::move(problem)};
  WeightReading reading = read_checked(file, key, *header, sharing);
  // Its time says when it was last used. Nothing depends on it but the order in which files are removed.
  if (reading.memory) ::futimens(file.get(), nullptr);
  return reading;
}

void write_weights(const std::filesystem::path& path, const WeightKey& key, const WeightSource& source,
                   std::span<const std::byte> weights) {
  Header header = header_of(key, source);
  header.checksum = checksum(weights);
  header.source_checksum = source.checksum();
  header.header_checksum = header.own_checksum();
  std::array<std::byte, kHeaderBytes> first{};
  std::memcpy(first.data(), &header, sizeof(header));
  PartFile part(path);
  part.write(first);
  part.write(weights);
  part.finish();
}

}  // namespace verbatim::transformer

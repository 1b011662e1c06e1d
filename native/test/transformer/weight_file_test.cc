#include "transformer/cpu/weight_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#include "checksum.h"
#include "error.h"
#include "testing/temporary_directory.h"

namespace verbatim::transformer {
namespace {

// Offsets in the header, and where the weights begin.
constexpr std::size_t kFormat = 32, kPanels = 36, kArchitecture = 40, kHeaderChecksum = 192, kWeights = 4096;

const WeightKey kKey{"decoder", ComputeType::kInt8, 3u << 20};
constexpr std::uint64_t kSourceChecksum = 99;

WeightSource source_of(const FileIdentity& identity, std::uint64_t content = kSourceChecksum) {
  return {identity, [content] { return content; }};
}

const WeightSource kSource = source_of({.size = 1000, .inode = 5, .modified = 7, .changed = 8});

std::vector<std::byte> weights_of(std::size_t size, unsigned seed = 1) {
  std::vector<std::byte> weights(size);
  for (std::size_t i = 0; i < size; ++i) weights[i] = static_cast<std::byte>((i * 2654435761u + seed) >> 13);
  return weights;
}

using Bytes = std::vector<std::uint8_t>;

// A file of weights in a directory of its own.
struct Fixture {
  test::TemporaryDirectory directory;
  std::filesystem::path path = directory / "decoder-int8.weights";
  std::vector<std::byte> weights = weights_of(kKey.bytes);

  Fixture() { write_weights(path, kKey, kSource, weights); }

  Bytes bytes() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const Bytes& bytes) const { directory.put(path.filename().string(), bytes); }

  WeightReading read(WeightSharing sharing = WeightSharing::kInHugePages, const WeightSource& source = kSource) const {
    return read_weights(path, kKey, source, sharing);
  }
  bool is_right(const WeightReading& reading) const {
    return reading.memory && std::ranges::equal(reading.memory->bytes(), weights);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory.path()), {}));
  }
};

// Changes the header as another version of the program would have written it.
Bytes with_header(Bytes bytes, std::size_t offset, std::uint8_t value) {
  bytes[offset] = value;
  const std::uint64_t sum = checksum(std::as_bytes(std::span(bytes)).first(kHeaderChecksum));
  std::memcpy(bytes.data() + kHeaderChecksum, &sum, sizeof(sum));
  return bytes;
}

// Runs the function in another process. Returns whether it returned true there.
pid_t in_process(const std::function<bool()>& run) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::_exit(run() ? 0 : 1);
}

bool succeeded(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Kilobytes of the mapping that begins there, by the kernel's field.
std::size_t mapped_kilobytes(const void* start, const std::string& field) {
  std::array<char, 32> address{};
  std::snprintf(address.data(), address.size(), "%lx-", reinterpret_cast<unsigned long>(start));
  std::ifstream mappings("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(mappings, line);) {
    if (line.starts_with(address.data())) is_here = true;
    if (is_here && line.starts_with(field)) return std::stoul(line.substr(field.size()));
  }
  return 0;
}

}  // namespace

TEST_CASE("weights in a file are read as they were written, shared or copied") {
  const Fixture file;
  CHECK(file.files() == 1);
  const WeightReading shared = file.read(WeightSharing::kAlways);
  CHECK(file.is_right(shared));
  CHECK(shared.is_shared);
  CHECK(shared.problem.empty());
  const WeightReading any = file.read();
  CHECK(file.is_right(any));
  const WeightReading only_shared = file.read(WeightSharing::kOrNothing);
  CHECK(only_shared.memory.has_value() == any.is_shared);
  CHECK(only_shared.problem.empty());
}

TEST_CASE("parts of filled memory are taken in the order of packing, and are not written") {
  const Fixture file;
  WeightReading reading = file.read();
  REQUIRE(reading.memory);
  const auto never = [](auto) { FAIL("filled memory is filled again"); };
  const auto first = reading.memory->take(100, never);
  CHECK(std::ranges::equal(first, std::span(file.weights).first(100)));
  const auto second = reading.memory->take_floats(3, never);
  CHECK(std::ranges::equal(std::as_bytes(second), std::span(file.weights).subspan(128, 12)));
}

TEST_CASE("without a file there are no weights, and nothing is wrong") {
  const test::TemporaryDirectory directory;
  const WeightReading reading = read_weights(directory / "none", kKey, kSource, WeightSharing::kAlways);
  CHECK_FALSE(reading.memory);
  CHECK(reading.problem.empty());
  CHECK(read_weights(directory.path(), kKey, kSource, WeightSharing::kAlways).problem == "its header cannot be read");
}

TEST_CASE("a truncated file, or one with more bytes, gives no weights") {
  const Fixture file;
  const Bytes whole = file.bytes();
  REQUIRE(whole.size() == kWeights + kKey.bytes);
  for (const WeightSharing sharing : {WeightSharing::kInHugePages, WeightSharing::kAlways}) {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, kHeaderChecksum, kHeaderChecksum + 7, kHeaderChecksum + 8, kWeights - 1,
          kWeights, kWeights + 1, std::size_t{2} << 20, whole.size() - 4096, whole.size() - 1}) {
      CAPTURE(size);
      file.put({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
      const WeightReading reading = file.read(sharing);
      CHECK_FALSE(reading.memory);
      CHECK_FALSE(reading.problem.empty());
    }
    Bytes longer = whole;
    longer.push_back(0);
    file.put(longer);
    CHECK_FALSE(file.read(sharing).memory);
    CHECK(file.read(sharing).problem == "it has 3149825 bytes instead of 3149824");
    file.put(whole);
    CHECK(file.is_right(file.read(sharing)));
  }
}

TEST_CASE("a changed byte anywhere gives no weights") {
  const Fixture file;
  Bytes bytes = file.bytes();
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < kHeaderChecksum + 8; ++place) places.push_back(place);
  for (std::size_t place = kWeights; place < bytes.size(); place += 65521) places.push_back(place);
  places.push_back(bytes.size() - 1);
  for (const std::size_t place : places) {
    CAPTURE(place);
    for (const std::uint8_t change : {std::uint8_t{1}, std::uint8_t{0x80}}) {
      bytes[place] ^= change;
      file.put(bytes);
      for (const WeightSharing sharing : {WeightSharing::kInHugePages, WeightSharing::kAlways}) {
        const WeightReading reading = file.read(sharing);
        CHECK_FALSE(reading.memory);
        CHECK(reading.problem == (place < kWeights ? "its header is damaged" : "the checksum of its weights is wrong"));
      }
      bytes[place] ^= change;
    }
  }
}

TEST_CASE("weights of another format, layout or architecture are stale") {
  const Fixture file;
  const Bytes bytes = file.bytes();
  for (const std::size_t place : {kFormat, kPanels, kArchitecture}) {
    file.put(with_header(bytes, place, static_cast<std::uint8_t>(bytes[place] + 1)));
    const WeightReading reading = file.read();
    CHECK_FALSE(reading.memory);
    CHECK(reading.problem.empty());
  }
  file.put(with_header(bytes, kFormat, bytes[kFormat]));
  CHECK(file.is_right(file.read()));
}

TEST_CASE("weights of another part, type or size are stale") {
  const Fixture file;
  for (const WeightKey& key :
       {WeightKey{"encoder", kKey.type, kKey.bytes}, WeightKey{kKey.part, ComputeType::kBfloat16, kKey.bytes},
        WeightKey{kKey.part, kKey.type, kKey.bytes - 64}}) {
    const WeightReading reading = read_weights(file.path, key, kSource, WeightSharing::kInHugePages);
    CHECK_FALSE(reading.memory);
    CHECK(reading.problem.empty());
  }
}

TEST_CASE("weights are used for the same model file, and for one of the same content") {
  const Fixture file;
  const FileIdentity same = kSource.identity;
  // The content is not read.
  const WeightSource unread{same, []() -> std::uint64_t {
                              FAIL("an unchanged file is read");
                              return 0;
                            }};
  CHECK(file.is_right(file.read(WeightSharing::kInHugePages, unread)));
  for (FileIdentity other : {FileIdentity{1000, 6, 7, 8}, FileIdentity{1000, 5, 8, 8}, FileIdentity{1000, 5, 7, 9}}) {
    CHECK(file.is_right(file.read(WeightSharing::kInHugePages, source_of(other))));
    const WeightReading reading = file.read(WeightSharing::kInHugePages, source_of(other, kSourceChecksum + 1));
    CHECK_FALSE(reading.memory);
    CHECK(reading.problem.empty());
  }
  CHECK_FALSE(file.read(WeightSharing::kInHugePages, source_of({1001, 5, 7, 8})).memory);
}

TEST_CASE("weights that cannot be written leave no file behind") {
  const test::TemporaryDirectory directory;
  const auto path = directory / "decoder-int8.weights";
  const std::vector<std::byte> weights = weights_of(kKey.bytes);
  CHECK_THROWS_WITH_AS(write_weights(directory / "none" / "file", kKey, kSource, weights),
                       doctest::Contains("No such file or directory"), EngineError);
  // A file that may not grow further fails as on a full disk.
  const pid_t child = in_process([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    try {
      write_weights(path, kKey, kSource, weights);
    } catch (const EngineError& error) {
      return error.code() == ErrorCode::kIoError;
    }
    return false;
  });
  CHECK(succeeded(child));
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("processes that write the same weights at once leave one right file") {
  const Fixture file;
  std::vector<pid_t> writers;
  for (int i = 0; i < 3; ++i) {
    writers.push_back(in_process([&] {
      for (int round = 0; round < 5; ++round) write_weights(file.path, kKey, kSource, file.weights);
      return true;
    }));
  }
  // A reader sees a whole file at any time.
  for (int i = 0; i < 20; ++i)
    CHECK(file.is_right(file.read(i % 2 == 0 ? WeightSharing::kAlways : WeightSharing::kInHugePages)));
  for (const pid_t writer : writers) CHECK(succeeded(writer));
  CHECK(file.is_right(file.read()));
  CHECK(file.files() == 1);
}

TEST_CASE("weights that are mapped stay right when the file is replaced or removed") {
  const Fixture file;
  const WeightReading reading = file.read(WeightSharing::kAlways);
  write_weights(file.path, kKey, kSource, weights_of(kKey.bytes, 2));
  CHECK(file.is_right(reading));
  CHECK_FALSE(file.is_right(file.read()));
  std::filesystem::remove(file.path);
  CHECK(file.is_right(reading));
}

TEST_CASE("two processes that share weights have them in memory once") {
  const Fixture file;
  std::array<int, 2> ready{}, done{};
  REQUIRE(::pipe(ready.data()) == 0);
  REQUIRE(::pipe(done.data()) == 0);
  const pid_t child = in_process([&] {
    const WeightReading reading = file.read(WeightSharing::kAlways);
    char byte = reading.is_shared ? 1 : 0;
    return ::write(ready[1], &byte, 1) == 1 && ::read(done[0], &byte, 1) == 1 && file.is_right(reading);
  });
  const WeightReading reading = file.read(WeightSharing::kAlways);
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  CHECK(byte == 1);
  REQUIRE(reading.memory);
  const std::byte* const start = reading.memory->bytes().data() - kWeights;
  const std::size_t resident = mapped_kilobytes(start, "Rss:");
  CHECK(resident >= kKey.bytes / 1024);
  // Half of it for each process.
  CHECK(mapped_kilobytes(start, "Pss:") <= resident / 2 + 8);
  CHECK(mapped_kilobytes(start, "Private_Dirty:") == 0);
  CHECK(::write(done[1], &byte, 1) == 1);
  CHECK(succeeded(child));
  for (const int end : {ready[0], ready[1], done[0], done[1]}) ::close(end);
}

}  // namespace verbatim::transformer

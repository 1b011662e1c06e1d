#include "transformer/cpu/weight_cache.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "checksum.h"
#include "error.h"

namespace verbatim::transformer {
namespace {

// What a disk must have left beside the weights: they can be packed again, others' files cannot.
constexpr std::uint64_t kSpareBytes = 1u << 30;

// File systems count time in steps of up to 10 ms. A file that was written twice in one step shows no second change.
constexpr std::int64_t kTimeStep = 20'000'000;

constexpr std::size_t kPiece = 32u << 20;

[[noreturn]] void refuse(const std::string& why) { throw EngineError(ErrorCode::kIoError, why); }

std::string mebibytes(std::uint64_t bytes) { return std::to_string((bytes + (1u << 20) - 1) >> 20) + " MiB"; }

void make_directory(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return;
  refuse("cannot make " + path.string() + ": " + std::strerror(errno));
}

std::int64_t now() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
}

std::uint64_t checksum_of(const MappedFile& file) {
  Checksum sum;
  std::span<const std::byte> rest = file.bytes();
  while (!rest.empty()) {
    const std::size_t count = std::min(kPiece, rest.size());
    sum.add(rest.first(count));
    rest = rest.subspan(count);
    file.drop_pages();
  }
  return sum.value();
}

}  // namespace

WeightCache::WeightCache(WeightCacheOptions options, std::filesystem::path model)
    : options_(std::move(options)), model_(std::move(model)), started_(now()) {}

std::optional<WeightMemory> WeightCache::find(const WeightKey& key, const MappedFile& model) {
  WeightReading reading = read_weights(path_of(key), key, source_of(model), options_.sharing);
  if (!reading.problem.empty()) add_problem(key, reading.problem + "; the weights were packed again");
  if (!reading.memory) return std::nullopt;
  report_.found_bytes += key.bytes;
  if (reading.is_shared) report_.shared_bytes += key.bytes;
  return std::move(reading.memory);
}

std::optional<WeightMemory> WeightCache::write(const WeightKey& key, const MappedFile& model,
                                               std::span<const std::byte> weights) {
  try {
    make_directory(options_.directory);
    check_room(weights.size());
    check_unchanged(model);
    write_weights(path_of(key), key, source_of(model), weights);
  } catch (const EngineError& error) {
    add_problem(key, error.what());
    return std::nullopt;
  }
  report_.written_bytes += key.bytes;
  const bool is_shared_anyway = options_.sharing == WeightSharing::kAlways;
  WeightReading reading = read_weights(path_of(key), key, source_of(model),
                                       is_shared_anyway ? WeightSharing::kAlways : WeightSharing::kOrNothing);
  if (reading.memory) report_.shared_bytes += key.bytes;
  return std::move(reading.memory);
}

void WeightCache::check_room(std::size_t bytes) const {
  const std::uint64_t needed = report_.found_bytes + report_.written_bytes + bytes;
  if (needed > options_.max_bytes) {
    refuse("the weights take " + mebibytes(needed) + ", the limit is " + mebibytes(options_.max_bytes));
  }
  struct statvfs disk {};
  if (::statvfs(options_.directory.c_str(), &disk) != 0) return;
  const std::uint64_t free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  if (bytes + kSpareBytes > free) {
    refuse(options_.directory.string() + " has " + mebibytes(free) + " free, but " + mebibytes(bytes + kSpareBytes) +
           " are needed");
  }
}

// Weights of a file that changed while they were packed belong to no file.
void WeightCache::check_unchanged(const MappedFile& model) const {
  const bool is_settled = model.identity().changed + kTimeStep <= started_;
  if (!is_settled || identity_of(model_) != model.identity()) refuse("the model's file has only just been written");
}

WeightSource WeightCache::source_of(const MappedFile& model) {
  return {model.identity(), [this, &model] {
            if (!model_checksum_) model_checksum_ = checksum_of(model);
            return *model_checksum_;
          }};
}

void WeightCache::add_problem(const WeightKey& key, const std::string& problem) {
  if (!report_.problem.empty()) report_.problem += "; ";
  report_.problem += key.name() + ": " + problem;
}

}  // namespace verbatim::transformer

#include "contestants.h"

#include "ct2_whisper.h"
#include "speech/random_models/random_whisper_model.h"

namespace verbatim::bench {

Contestants whisper_contestants(const std::filesystem::path& model, int mels,
                                const std::vector<const transformer::Kernels*>& kernels) {
  const MelWindow window = noise_window(mels);
  Contestants all;
  constexpr AcceleratorMode kModes[] = {AcceleratorMode::kAuto, AcceleratorMode::kFloat32, AcceleratorMode::kOff};
  for (const AcceleratorMode mode : kModes) all.push_back(whisper_contestant(model, mode, window));
  for (const AcceleratorMode mode : kModes) all.push_back(own_contestant(model, mode));
  for (const transformer::Kernels* variant : kernels) all.push_back(int8_contestant(model, *variant));
  return all;
}

Contestants random_contestants(const ModelShape& shape, const std::string& name,
                               const std::vector<const transformer::Kernels*>& kernels,
                               [[maybe_unused]] const std::vector<std::string>& ct2_types,
                               const std::filesystem::path& directory) {
  constexpr std::uint32_t kSeed = 1;
  const std::filesystem::path model = directory / (name + ".bin");
  random_models::write_random_model(shape, kSeed, model);
  Contestants all = whisper_contestants(model, shape.mels, kernels);
#ifdef VERBATIM_CTRANSLATE2
  write_ct2_whisper(shape, kSeed, directory / name);
  for (const std::string& type : ct2_types)
    all.push_back(ct2_contestant(directory / name, type, noise_window(shape.mels)));
#endif
  return all;
}

}  // namespace verbatim::bench

#include "transformer/kernels/kernels.h"

#include <array>
#include <vector>

#if defined(VERBATIM_ARM_KERNELS)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace verbatim::transformer {

namespace generic {
extern const Kernels kTable;
}
#if defined(VERBATIM_X86_KERNELS)
namespace avx2 {
extern const Kernels kTable;
}
namespace avx_vnni {
extern const Kernels kTable;
}
namespace avx512 {
extern const Kernels kTable;
}
#elif defined(VERBATIM_ARM_KERNELS)
namespace neon {
extern const Kernels kTable;
}
namespace neon_dot {
extern const Kernels kTable;
}
namespace neon_i8mm {
extern const Kernels kTable;
}
#endif

namespace {

std::vector<const Kernels*> detect() {
  std::vector<const Kernels*> found;
#if defined(VERBATIM_X86_KERNELS)
  __builtin_cpu_init();
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512vnni");
  if (has_avx512) found.push_back(&avx512::kTable);
  // Every processor with AVX2 and FMA also has F16C.
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx2 && __builtin_cpu_supports("avxvnni")) found.push_back(&avx_vnni::kTable);
  if (has_avx2) found.push_back(&avx2::kTable);
#elif defined(VERBATIM_ARM_KERNELS)
  const bool has_dot = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
  if (has_dot && (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0) found.push_back(&neon_i8mm::kTable);
  if (has_dot) found.push_back(&neon_dot::kTable);
  found.push_back(&neon::kTable);
#endif
  found.push_back(&generic::kTable);
  return found;
}

}  // namespace

std::span<const Kernels* const> available_kernels() noexcept {
  static const std::vector<const Kernels*> found = detect();
  return found;
}

const Kernels& kernels() noexcept { return *available_kernels().front(); }

}  // namespace verbatim::transformer

// Compiled with NEON's products of unsigned and signed bytes (usdot, usmmla) if the compiler targets ARM; empty
// elsewhere.
#if defined(__aarch64__) && defined(__ARM_FEATURE_MATMUL_INT8)
#define VERBATIM_KERNELS neon_i8mm
#define VERBATIM_KERNELS_NAME "neon-i8mm"
#define VERBATIM_VECTOR_BYTES 16
#define VERBATIM_VNNI 1
#define VERBATIM_NEON 1
#include "transformer/kernels/impl.h"
#endif

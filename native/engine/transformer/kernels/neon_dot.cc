// Compiled with NEON's dot product of signed bytes (sdot) if the compiler targets ARM; empty elsewhere.
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
#define VERBATIM_KERNELS neon_dot
#define VERBATIM_KERNELS_NAME "neon-dot"
#define VERBATIM_VECTOR_BYTES 16
#define VERBATIM_VNNI 0
#define VERBATIM_NEON 1
#include "transformer/kernels/impl.h"
#endif

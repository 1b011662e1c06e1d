// Plain NEON, which every 64-bit ARM processor has: vectors of 16 bytes. Empty on other processors.
#if defined(__aarch64__)
#define VERBATIM_KERNELS neon
#define VERBATIM_KERNELS_NAME "neon"
#define VERBATIM_VECTOR_BYTES 16
#define VERBATIM_VNNI 0
#define VERBATIM_NEON 1
#include "transformer/kernels/impl.h"
#endif

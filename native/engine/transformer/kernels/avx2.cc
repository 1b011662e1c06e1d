// Compiled with AVX2 and FMA if the compiler targets x86-64; empty elsewhere.
#if defined(__AVX2__) && defined(__FMA__)
#define VERBATIM_KERNELS avx2
#define VERBATIM_KERNELS_NAME "avx2"
#define VERBATIM_VECTOR_BYTES 32
#define VERBATIM_VNNI 0
#include "transformer/kernels/impl.h"
#endif

// Compiled with AVX2, FMA and AVX-VNNI if the compiler targets x86-64; empty elsewhere.
#if defined(__AVX2__) && defined(__FMA__) && defined(__AVXVNNI__)
#define VERBATIM_KERNELS avx_vnni
#define VERBATIM_KERNELS_NAME "avx-vnni"
#define VERBATIM_VECTOR_BYTES 32
#define VERBATIM_VNNI 1
#include "transformer/kernels/impl.h"
#endif

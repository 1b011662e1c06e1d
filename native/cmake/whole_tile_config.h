// For the sources of ggml that compute with AMX tiles. GCC's _tile_loadconfig() declares that it reads 8 bytes of a
// tile configuration, which has 64. The compiler then drops the stores to the others, and LDTILECFG faults.
#pragma once

#if defined(__AMX_TILE__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#define _tile_loadconfig(config) __asm__ volatile("ldtilecfg (%0)" : : "r"(config) : "memory")
#endif

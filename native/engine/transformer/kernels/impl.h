// The kernels, written once in the compilers' portable vector types and compiled once per instruction set. The
// including file defines VERBATIM_KERNELS (a namespace), VERBATIM_KERNELS_NAME, VERBATIM_VECTOR_BYTES and VERBATIM_VNNI
// (1: it has an instruction that adds four products of unsigned and signed bytes), and on ARM VERBATIM_NEON. The parts
// must not include inline functions that other files share: the linker could keep the copy that was compiled for a
// newer processor.
#include "transformer/kernels/attention.h"
#include "transformer/kernels/conformer.h"
#include "transformer/kernels/cross.h"
#include "transformer/kernels/gemm.h"
#include "transformer/kernels/kernels.h"
#include "transformer/kernels/rows.h"
#include "transformer/kernels/search.h"

namespace verbatim::transformer {
namespace VERBATIM_KERNELS {

extern const Kernels kTable;
const Kernels kTable = {VERBATIM_KERNELS_NAME,
                        gemm_float32,
                        gemm_bfloat16,
                        gemm_int8,
                        quantize_row,
                        layer_norm,
                        attend_float32,
                        attend_bfloat16,
                        round_to_bfloat16,
                        quantize_head,
                        attend_packed_int8,
                        attend_packed_bfloat16,
                        top_k,
                        log_sum_exp,
                        exponentials,
                        mix_rows,
                        gate_row,
                        softmax_of_sum,
                        powers_of_two_float32,
                        powers_of_two_uint16,
                        kMixValues};

}  // namespace VERBATIM_KERNELS
}  // namespace verbatim::transformer

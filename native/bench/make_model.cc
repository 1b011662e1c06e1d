// Writes a Whisper or Parakeet model of a published shape with random weights. Its text is meaningless, its cost is
// real. Holds one tensor at a time.
//
//   make_model tiny|base|small|large-v3-turbo|parakeet-0.6b|parakeet-0.6b-v2 FILE [WEIGHTS] [SEED] [TOKENS]
//              [--outliers] [--sharp-heads]
//
// WEIGHTS: f16 (default), q4_0, q4_1, q5_0, q5_1, q8_0, q2_k, q3_k, q4_k, q5_k or q6_k; f32 for Parakeet. With TOKENS
// every window is decoded to so many text tokens (Whisper). --outliers: a few channels of Whisper's encoder are 60
// times the rest. --sharp-heads: every second head of it attends to hardly more than one position. Shapes for tests,
// which load at once: parakeet-small, parakeet-narrow, parakeet-wide.
#include "model_maker.h"
#include "program.h"

int main(int count, char** values) { return verbatim::bench::run_program(count, values, verbatim::bench::make_model); }

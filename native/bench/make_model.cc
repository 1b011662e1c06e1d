// Writes a Whisper or a Parakeet model of a published shape with random weights, holding a tensor of it at a
// time: what it says means nothing, what it costs is real.
//
//   make_model tiny|base|small|large-v3-turbo|parakeet-0.6b|parakeet-0.6b-v2 FILE [WEIGHTS] [SEED] [TOKENS]
//
// WEIGHTS: f16 (default), q4_0, q4_1, q5_0, q5_1, q8_0, q2_k, q3_k, q4_k, q5_k or q6_k; f32 for Parakeet.
// With TOKENS every window is decoded to so many tokens of text (Whisper). Shapes for tests that need no time
// to load: parakeet-small, parakeet-narrow, parakeet-wide.
#include "model_maker.h"
#include "program.h"

int main(int count, char** values) {
  return verbatim::bench::run_program(count, values, verbatim::bench::make_model);
}

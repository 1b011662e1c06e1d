/** Hz, of the samples that speech models take. */
export const SAMPLE_RATE = 16_000;

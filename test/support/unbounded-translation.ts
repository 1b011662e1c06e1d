/** The addon's translation models, with sentences that can be made to have no end: one call, inside the decoder. */
import type { TranslationBatch, TranslationOptions, Translator } from '../../src/engine/binding.js';
import { EndlessTranslation } from './endless-translation.js';
import { takenUp } from './thread-pool.js';

/**
 * Half an hour of decoding, because a step's time grows with the steps before it; a decoder that is deaf to an abort
 * fails the test without holding the process for ever. The model must be one without a table of positions
 * (`unbounded`).
 */
export const UNBOUNDED: TranslationOptions = {
  beamSize: 1,
  maxDecodingLength: 200_000,
  minDecodingLength: 200_000,
};

export class UnboundedTranslation extends EndlessTranslation {
  private decoded: Promise<TranslationBatch> | null = null;

  /** The call that has no end, once a native thread is at it. */
  async decoding(): Promise<{ decoded: Promise<TranslationBatch> }> {
    while (this.decoded === null) await new Promise((resolve) => setImmediate(resolve));
    await takenUp();
    return { decoded: this.decoded };
  }

  protected override repeating(translator: Translator): Translator {
    return {
      translate: (inputs, options, call) => {
        if (!this.endless) return translator.translate(inputs, options, call);
        this.decoded = translator.translate(inputs, { ...options, ...UNBOUNDED }, call);
        return this.decoded;
      },
      close: () => translator.close(),
    };
  }
}

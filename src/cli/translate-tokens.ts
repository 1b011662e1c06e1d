/** `verbatim translate --model DIR --tokens`: a model alone, below its tokenizer, for parity checks. */
import { loadBinding, type TranslationInput, type TranslationOptions } from '../engine/binding.js';
import { resolveDevices } from '../engine/devices.js';
import { readContext } from '../service/context.js';

export const COMPUTE_TYPES = ['auto', 'float32', 'float16', 'bfloat16', 'int8'] as const;
export type ComputeType = (typeof COMPUTE_TYPES)[number];

export interface TokensOptions {
  directory: string;
  compute: ComputeType;
  /** Lines decoded together; undefined: all of them. */
  batch: number | undefined;
  decoding: TranslationOptions;
}

export async function translateTokens(text: string, options: TokensOptions): Promise<void> {
  const inputs = linesOf(text).map(parseLine);
  const { config } = readContext();
  const binding = loadBinding();
  const model = await binding.loadTranslationModel(options.directory, {
    device: resolveDevices(config.device, binding)[0] ?? 'cpu',
    computeType: options.compute,
    backend: config.translationBackend,
  });
  try {
    const translator = await model.createTranslator({ threads: config.threads });
    const size = options.batch ?? Math.max(1, inputs.length);
    for (let first = 0; first < inputs.length; first += size) {
      const batch = inputs.slice(first, first + size);
      const { results } = await translator.translate(batch, { ...options.decoding, maxBatchSize: size });
      for (const hypotheses of results) {
        const line = {
          hypotheses: hypotheses.map(({ tokens }) => tokens),
          scores: hypotheses.map(({ score }) => score),
        };
        console.log(JSON.stringify(line));
      }
    }
    translator.close();
  } finally {
    model.close();
  }
}

/** An empty line is an empty sentence; the line end of the last line begins no other. */
function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function parseLine(line: string): TranslationInput {
  const [source = '', prefix = ''] = line.split('\t', 2);
  const targetPrefix = tokensOf(prefix);
  return targetPrefix.length === 0
    ? { source: tokensOf(source) }
    : { source: tokensOf(source), targetPrefix };
}

// Only ASCII white space parts tokens: others, such as the no-break space, occur inside vocabularies.
function tokensOf(text: string): string[] {
  return text.split(/[ \t\r\n\f\v]+/).filter((token) => token !== '');
}

/** Translates on this machine without a server, for `verbatim translate`. */
import type { ServiceContext } from './context.js';
import { createTranslationEngine } from './translation-engine.js';

export interface LocalTranslation {
  text: string;
  /** The names of the models that were used. Empty if both languages are the same. */
  models: string[];
}

export async function translateLocally(
  { text, from, to }: { text: string; from: string; to: string },
  { config, roots, manifest }: ServiceContext,
): Promise<LocalTranslation> {
  if (from === to) return { text, models: [] };
  const engine = createTranslationEngine(config, roots, manifest);
  try {
    const translated = await engine.translate({ accountId: 'local', text, from, to });
    return { text: translated.text, models: engine.routeOf(from, to) };
  } finally {
    await engine.close();
  }
}

/** A translation model as the engine uses it: loaded on first use, with its language tokens and translators. */
import type {
  NativeBinding,
  TranslationInput,
  TranslationModel,
  TranslationModelOptions,
  Translator,
} from '../binding.js';
import { ofModel } from '../native-errors.js';
import type { RoutedModel } from './translation-routes.js';

export interface TranslationModelSpec extends RoutedModel {
  /** The CTranslate2 directory. */
  readonly path: string;
  /** How the model gets the target language: a first source token or a target prefix; '{}' is the code. */
  readonly targetToken?: { place: 'source' | 'prefix'; template: string };
  /** First source token that names the source language; '{}' is the code. */
  readonly sourceToken?: string;
  /** The model's own language codes, where they differ from the service's. */
  readonly codes?: Readonly<Record<string, string>>;
}

/** Sentences beyond this are parted even when the model has more positions: models are trained on sentences. */
const LONGEST_SENTENCE = 192;

/** Language tokens and the tokens that begin and end a source. */
const SPECIAL_TOKENS = 4;

/** Text that is tokenized in one call at most, in UTF-16 units: some milliseconds. */
const TOKENIZED_AT_ONCE = 65_536;

export class LazyTranslationModel implements RoutedModel {
  readonly name: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly bundled: boolean;
  private loading: Promise<TranslationModel> | null = null;
  private readonly idle: Translator[] = [];
  private users = 0;
  private closed = false;

  constructor(
    private readonly spec: TranslationModelSpec,
    private readonly binding: Pick<NativeBinding, 'loadTranslationModel'>,
    private readonly options: TranslationModelOptions,
    private readonly threads: number,
  ) {
    this.name = spec.name;
    this.from = spec.from;
    this.to = spec.to;
    this.bundled = spec.bundled ?? false;
  }

  /** Tokens of a sentence at most, its special tokens not counted. */
  async sentenceLimit(): Promise<number> {
    const { maxSourceTokens } = (await this.load()).info;
    const positions = maxSourceTokens === 0 ? LONGEST_SENTENCE : maxSourceTokens - SPECIAL_TOKENS;
    return Math.max(1, Math.min(LONGEST_SENTENCE, positions));
  }

  async tokenize(texts: readonly string[]): Promise<string[][]> {
    const model = await this.load();
    const tokens: string[][] = [];
    for (const group of grouped(texts)) tokens.push(...(await model.tokenize(group)));
    return tokens;
  }

  async detokenize(tokens: readonly string[][]): Promise<string[]> {
    return (await this.load()).detokenize(tokens);
  }

  /** A sentence's tokens as the model wants them for this pair. */
  async input(tokens: readonly string[], from: string, to: string): Promise<TranslationInput> {
    const { info } = await this.load();
    const { targetToken, sourceToken } = this.spec;
    const target = targetToken === undefined ? [] : [this.fill(targetToken.template, to)];
    const source = [
      ...(targetToken?.place === 'source' ? target : []),
      ...(sourceToken === undefined ? [] : [this.fill(sourceToken, from)]),
      ...tokens,
      ...(info.wantsSourceEos ? [info.eosToken] : []),
    ];
    return targetToken?.place === 'prefix' ? { source, targetPrefix: target } : { source };
  }

  /** The tokens of a translation without its prefix, and without language tokens that were copied from the source. */
  plainTokens(tokens: readonly string[], input: TranslationInput | undefined, from: string, to: string): string[] {
    const { targetToken, sourceToken } = this.spec;
    const special = new Set<string>();
    if (targetToken !== undefined) special.add(this.fill(targetToken.template, to));
    if (sourceToken !== undefined) special.add(this.fill(sourceToken, from));
    return tokens.slice(input?.targetPrefix?.length ?? 0).filter((token) => !special.has(token));
  }

  /** It stays loaded until the value is called, once. */
  use(): () => void {
    this.users++;
    return () => {
      this.users--;
    };
  }

  /** Where it is loaded and nobody uses it; the next use loads it again. */
  async unload(): Promise<void> {
    const { loading } = this;
    if (this.users > 0 || loading === null) return;
    this.loading = null;
    for (const translator of this.idle.splice(0)) translator.close();
    (await loading.catch(() => null))?.close();
  }

  /** An idle translator or a new one; it must be released by release(). */
  async take(): Promise<Translator> {
    return this.idle.pop() ?? (await this.load()).createTranslator({ threads: this.threads });
  }

  release(translator: Translator, inDoubt: boolean): void {
    if (inDoubt || this.closed) translator.close();
    else this.idle.push(translator);
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const translator of this.idle.splice(0)) translator.close();
    const model = await this.loading?.catch(() => null);
    model?.close();
  }

  /** A load that failed is tried again by the next request: the files may have been repaired. */
  private load(): Promise<TranslationModel> {
    if (this.loading === null) {
      this.loading = this.binding
        .loadTranslationModel(this.spec.path, this.options)
        .catch((error: unknown) => Promise.reject(ofModel(this.name, error) as Error));
      this.loading.catch(() => (this.loading = null));
    }
    return this.loading;
  }

  private fill(template: string, language: string): string {
    return template.replace('{}', this.spec.codes?.[language] ?? language);
  }
}

function* grouped(texts: readonly string[]): Generator<string[]> {
  let group: string[] = [];
  let size = 0;
  for (const text of texts) {
    group.push(text);
    size += text.length;
    if (size < TOKENIZED_AT_ONCE && group.length < TOKENIZED_AT_ONCE) continue;
    yield group;
    group = [];
    size = 0;
  }
  if (group.length > 0) yield group;
}

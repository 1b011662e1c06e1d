/** From one language to another over the installed models. */

/** What routing needs to know of a model; every source goes to every target but itself. */
export interface RoutedModel {
  readonly name: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** Ships with the package: anything somebody chose to install goes before it. */
  readonly bundled?: boolean;
}

export interface Hop<M extends RoutedModel> {
  model: M;
  from: string;
  to: string;
}

/** The language that a pivot goes through: the one most published models have on one side. */
const PIVOT = 'en';

export class TranslationRoutes<M extends RoutedModel> {
  /** The best first. */
  private readonly models: readonly M[];

  constructor(models: readonly M[]) {
    this.models = [...models].sort((one, other) => rank(one) - rank(other));
  }

  /** A direct model, else a multilingual one, else two of them through English; null when none covers the pair. */
  find(from: string, to: string): Hop<M>[] | null {
    if (from === to) return null;
    const straight = this.straight(from, to);
    if (straight !== null) return [straight];
    if (from === PIVOT || to === PIVOT) return null;
    const first = this.straight(from, PIVOT);
    const second = this.straight(PIVOT, to);
    return first !== null && second !== null ? [first, second] : null;
  }

  private straight(from: string, to: string): Hop<M> | null {
    const model = this.models.find((candidate) => candidate.from.includes(from) && candidate.to.includes(to));
    return model === undefined ? null : { model, from, to };
  }
}

/** Models of one pair, then multilingual ones, installed by somebody or bundled. */
function rank({ from, to, bundled }: RoutedModel): number {
  if (from.length === 1 && to.length === 1) return 0;
  return bundled === true ? 2 : 1;
}

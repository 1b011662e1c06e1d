/** A model in several precisions is one family: they are listed under one row. */
import type { StoredModel } from '../../models/model-store.js';

export interface FoldedModels {
  name: string;
  /** Of the family, the one that is shown first. */
  main: StoredModel;
  others: StoredModel[];
}

/** What the names of quantized files end with: -q8_0, -q5_1, -q4_k. */
const PRECISION = /-q\d_(\d|k)$/;
/** As fast as the machine is, and about as good as the whole model. */
const PREFERRED = /-q8_0$/;

/**
 * The family of the recommended model first, then what serves and what is here, then the rest as listed. `first`:
 * names, the most important one first.
 */
export function modelFamilies(models: readonly StoredModel[], first: readonly string[]): FoldedModels[] {
  const members = new Map<string, StoredModel[]>();
  for (const model of models) {
    const key = `${model.kind} ${model.name.replace(PRECISION, '')}`;
    members.set(key, [...(members.get(key) ?? []), model]);
  }
  const families = [...members.values()].map((family) => familyOf(family, first));
  return families
    .map((family, place) => ({ family, place: rank(family.main, first) * models.length + place }))
    .sort((a, b) => a.place - b.place)
    .map(({ family }) => family);
}

function familyOf(members: readonly StoredModel[], first: readonly string[]): FoldedModels {
  const [main, ...others] = [...members].sort((a, b) => rank(a, first) - rank(b, first) || taste(a) - taste(b));
  if (main === undefined) throw new Error('A family has a member.');
  return { name: main.name.replace(PRECISION, ''), main, others };
}

/** What is at work or here comes before what is not. */
function rank({ name, state }: StoredModel, first: readonly string[]): number {
  const place = first.indexOf(name);
  if (place >= 0) return place;
  const states = ['downloading', 'checking', 'installed', 'failed'];
  return first.length + (states.includes(state) ? states.indexOf(state) : states.length);
}

function taste({ name }: StoredModel): number {
  return PREFERRED.test(name) ? 0 : 1;
}

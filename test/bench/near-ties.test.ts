import { expect } from 'chai';
import {
  agrees,
  differenceOf,
  nearTieTables,
  type ExplainedPair,
  type TokenChoice,
} from '../../bench/reports/near-ties.js';

const CLIP = { path: 'a.wav', language: 'en', text: 'a b', sentences: null, voices: null };

function choice(id: number, margin: number | null): TokenChoice {
  const likelihood = { logProbability: -0.5, runnerUpLogProbability: -0.51, timeStampLead: -3 };
  return { id, runnerUp: id + 1, margin, ...likelihood };
}

function pairs(choices: TokenChoice[], tokens: number[], more: Partial<ExplainedPair> = {}): ExplainedPair {
  const same = choices.map(({ id }) => id).join(' ') === tokens.join(' ');
  return {
    clip: CLIP,
    first: { language: 'en', text: 'ours', choices, languageMargin: null },
    second: { language: 'en', text: same ? 'ours' : 'theirs', tokens },
    ...more,
  };
}

/** So many windows, of which the given ones are not all the same. */
function among(windows: number, ...others: ExplainedPair[]): ExplainedPair[] {
  const same = pairs([choice(1, null)], [1]);
  return [...Array.from({ length: windows - others.length }, () => same), ...others];
}

describe('near ties', () => {
  const tie = pairs([choice(1, 4), choice(2, 0.01), choice(3, 5)], [1, 7, 3]);
  const other = pairs([choice(1, 0.001), choice(2, 0.5), choice(3, 5)], [1, 7, 3]);

  it('are looked for at the first token that is another', () => {
    expect(differenceOf(tie, 1)).to.deep.include({ position: 1, second: 7, margin: 0.01 });
    expect(differenceOf(tie, 1).first).to.include({ id: 2, runnerUp: 3 });
    expect(differenceOf(other, 1)).to.deep.include({ position: 1, margin: 0.5 });
  });

  it('are looked for in every step of a search with beams', () => {
    expect(differenceOf(other, 5)).to.deep.include({ position: 1, margin: 0.001 });
  });

  it('belong to the last token where one text goes on', () => {
    const shorter = pairs([choice(1, 4), choice(2, 0.01)], [1, 2, 3]);
    expect(differenceOf(shorter, 1)).to.deep.equal({ position: 2, first: null, second: 3, margin: 0.01 });
    const longer = pairs([choice(1, 4), choice(2, 0.3)], [1]);
    expect(differenceOf(longer, 1)).to.deep.include({ position: 1, second: null, margin: 0.3 });
    expect(differenceOf(pairs([], [1]), 1)).to.deep.include({ position: 0, first: null, margin: Infinity });
  });

  it('of languages are those of the vote', () => {
    const second = { language: 'de', text: 'theirs', tokens: [5] };
    const voted = pairs([choice(1, 9)], [1], { second });
    expect(differenceOf(voted, 1).margin).to.equal(Infinity);
    const first = { ...voted.first, languageMargin: 0.015 };
    expect(differenceOf({ ...voted, first }, 1)).to.deep.include({ position: null, margin: 0.015 });
  });

  it('are no excuse for texts that differ in no token', () => {
    const spelled = pairs([choice(1, 0)], [1], { second: { language: 'en', text: 'else', tokens: [1] } });
    expect(differenceOf(spelled, 1)).to.deep.include({ position: null, margin: Infinity });
    expect(agrees(among(100, spelled), 1)).to.equal(false);
  });

  it('may be two windows in a hundred, and nothing else may differ', () => {
    expect(agrees(among(100), 1)).to.equal(true);
    expect(agrees(among(100, tie, tie), 1)).to.equal(true);
    expect(agrees(among(100, tie, tie, tie), 1)).to.equal(false);
    expect(agrees(among(100, other), 1)).to.equal(false);
    const endless = pairs([choice(1, null)], [2]);
    expect(agrees(among(100, endless), 1)).to.equal(false);
  });

  it('are listed with both choices', () => {
    const names = ['Verbatim', 'whisper-cli'] as const;
    expect(nearTieTables('greedy', among(3), 1, names)).to.deep.equal([]);
    const [table] = nearTieTables('greedy', among(3, tie, other), 1, names);
    expect(table?.rows).to.have.length(2);
    expect(table?.rows[0]).to.deep.equal({
      ...{ clip: 'a.wav', 'first other token': 1, 'Verbatim: token': 2, 'log probability': -0.5 },
      ...{ 'whisper-cli: token': 7, 'runner-up': 3, 'its log probability': -0.51 },
      ...{ 'time stamps over text': -3, 'margin, nats': 0.01, 'near tie': 'yes' },
    });
    expect(table?.rows[1]).to.include({ 'margin, nats': 0.5, 'near tie': 'no' });
  });
});

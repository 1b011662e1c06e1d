/** What is about to be sent, in words: how long it is, and what it will cost. */
import { filledIn, type Texts } from './page-parts.js';
import { priceOf, type RunPrices } from './price.js';
import type { ChosenRecording } from './recordings.js';

interface PriceState {
  texts: Texts;
  prices: RunPrices;
  /** Credits. */
  balance: number;
  /** The fields that it is sent with. */
  data: FormData;
}

export function priceText(
  recordings: readonly ChosenRecording[],
  { texts, prices, balance, data }: PriceState,
): string {
  const known = recordings.flatMap(({ measured, estimate }) => {
    const seconds = measured ?? estimate;
    return seconds === null ? [] : [{ seconds, ...priceOf(prices, seconds, data) }];
  });
  const [first] = recordings;
  const [price] = known;
  if (first === undefined) return '';
  const { name } = first.file;
  if (known.length < recordings.length || price === undefined) {
    return recordings.length === 1
      ? filledIn(texts, 'unknownLength', { name })
      : filledIn(texts, 'manyUnknown', { count: recordings.length });
  }
  const credits = known.reduce((sum, one) => sum + one.credits, 0);
  const seconds = known.reduce((sum, one) => sum + one.seconds, 0).toFixed(1);
  const values = { name, count: recordings.length, seconds, credits };
  const short = credits > balance ? ` ${filledIn(texts, 'tooLittle', { balance })}` : '';
  if (recordings.length > 1) {
    return filledIn(texts, price.isAtMost ? 'manyAtMost' : 'manyEstimated', values) + short;
  }
  const text = first.measured === null ? 'estimated' : 'willCost';
  return filledIn(texts, price.isAtMost ? `${text}AtMost` : text, values) + short;
}

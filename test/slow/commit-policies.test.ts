/**
 * When text of a running utterance is final: once the decodings of some time agree on it (LocalAgreement), or once its
 * words end so long before the audio does (AlignAtt's rule, by the times that alignment reads from cross-attention).
 * `npm run test:slow -- --grep 'commit policies'`; CLIPS: a folder of recordings with a refs.json.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { normalizedWords, WordErrorRate, wordErrors } from '../../bench/reports/wer.js';
import { sampleReader } from '../../bench/live/track.js';
import { SAMPLE_RATE } from '../../src/engine/sample-rate.js';
import type { LocalSpeechEngine } from '../../src/engine/speech/transcriber.js';
import type { RecognisedUtterance } from '../../src/engine/types.js';
import { CommittedText, type NewDecoding, type UtteranceRest } from '../../src/live/committed-text.js';
import { textOf } from '../../src/live/segment-split.js';
import { binding } from '../native/support.js';
import { loadRealEngine } from '../support/real-engine.js';
import { quantile } from './quantile.js';

const CLIPS = process.env['CLIPS'] ?? join(__dirname, '..', 'fixtures', 'audio', 'clips');
const MOST_CLIPS = Number(process.env['MOST_CLIPS'] ?? 100);
/** Audio between two decodings. */
const STEP_SECONDS = 0.5;
const SHORTEST_SECONDS = 2;

interface SpokenClip {
  file: string;
  language: string;
  text: string;
  duration: number;
}

/** Of the newest decoding, or of what the decodings of some time agree on: the words that end so long before the audio. */
class AlignAtt extends CommittedText {
  constructor(
    private readonly edgeSeconds: number,
    private readonly agreementSeconds: number | null = null,
  ) {
    super(agreementSeconds ?? 0, 'prefix', 0);
  }

  protected override settledText(decoding: NewDecoding): string | null {
    const { committed, rest, endSeconds } = decoding;
    const agreed = super.settledText(decoding);
    const words = rest.segments.flatMap((segment) => segment.words ?? []);
    const late = words.findIndex((word) => word.endSeconds > endSeconds - this.edgeSeconds);
    const settled = words.slice(0, late < 0 ? words.length : late).map(({ text }) => text);
    const text = committed + settled.join('');
    if (!(committed + textOf(rest.segments)).startsWith(text)) return null;
    if (this.agreementSeconds === null || agreed === null) return this.agreementSeconds === null ? text : null;
    return agreed.length < text.length ? agreed : text;
  }
}

const POLICIES: Record<string, () => CommittedText> = {
  'at the end only': () => new CommittedText(null, 'prefix', 0),
  ...Object.fromEntries(
    [0, 1, 2].map((seconds) => [`agreement over ${seconds} s`, () => new CommittedText(seconds, 'prefix', 0)]),
  ),
  ...Object.fromEntries(
    [0.3, 0.5, 1, 1.5, 2].map((seconds) => [`words ${seconds} s before the end`, () => new AlignAtt(seconds)]),
  ),
  ...Object.fromEntries(
    [0.5, 1, 1.5].map((edge) => [
      `words ${edge} s before the end that two decodings agree on`,
      () => new AlignAtt(edge, 0),
    ]),
  ),
};

describe('commit policies', function () {
  this.timeout(3_600_000);
  let engine: LocalSpeechEngine;
  const decodings = new Map<string, Promise<RecognisedUtterance>>();

  before(async () => {
    engine = await loadRealEngine({ slots: 1, decoder: 'batched' });
  });
  after(() => engine.close());

  function decode(clip: SpokenClip, samples: Int16Array, committed: CommittedText): Promise<RecognisedUtterance> {
    const { prefix } = committed;
    const key = JSON.stringify([clip.file, samples.length, prefix]);
    const known = decodings.get(key);
    if (known !== undefined) return known;
    const result = engine.recognise({
      ...{ samples, startSample: 0, accountId: 'one', dueInMs: null, align: true, describe: true },
      origin: { requestId: 'req', accountId: 'one', background: false, sha256: null },
      ...{ language: clip.language, signal: new AbortController().signal },
      ...(prefix === null ? {} : { prefix }),
    });
    decodings.set(key, result);
    return result;
  }

  it('are compared on growing utterances', async () => {
    const all = JSON.parse(readFileSync(join(CLIPS, 'refs.json'), 'utf8')) as SpokenClip[];
    const clips = all.filter(({ duration }) => duration >= SHORTEST_SECONDS).slice(0, MOST_CLIPS);
    const read = sampleReader(binding);
    const rates = new Map<string, number>();
    process.stdout.write(
      `      ${clips.length} clips; words wrong, lag of a word p50 and p95, committed before the end\n`,
    );
    for (const [name, policy] of Object.entries(POLICIES)) {
      const errors = new WordErrorRate();
      const lags: number[] = [];
      let [early, words] = [0, 0];
      for (const clip of clips) {
        const samples = await read(join(CLIPS, clip.file));
        const seconds = samples.length / SAMPLE_RATE;
        const committed = policy();
        let text = '';
        const take = (piece: UtteranceRest, at: number): number => {
          const spoken = piece.segments.flatMap((segment) => segment.words ?? []);
          for (const word of spoken) lags.push(at - word.endSeconds);
          text += textOf(piece.segments);
          return spoken.length;
        };
        for (let end = STEP_SECONDS; end < seconds; end += STEP_SECONDS) {
          const piece = committed.add(await decode(clip, samples.subarray(0, end * SAMPLE_RATE), committed), end);
          if (piece !== null) early += take(piece, end);
        }
        take(committed.restOf(await decode(clip, samples, committed)), seconds);
        words += normalizedWords(text).length;
        errors.add(wordErrors(clip.text, text));
      }
      const [half, most] = [quantile(lags, 0.5), quantile(lags, 0.95)].map((lag) => lag.toFixed(2));
      const rate = errors.percent;
      rates.set(name, rate);
      const share = ((100 * early) / words).toFixed(0);
      process.stdout.write(`      ${name}: ${rate.toFixed(2)} %, ${half} s, ${most} s, ${share} %\n`);
    }
    process.stdout.write(`      ${decodings.size} decodings\n`);
    const alone = rates.get('at the end only') ?? NaN;
    expect(rates.get('agreement over 2 s'), 'what the service does').to.be.at.most(alone + 1);
  });
});

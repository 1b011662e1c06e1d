/** A recording, tried: the same work as the API's, booked under the account's dashboard key. */
import { answerText } from '../../transcription/answer-text.js';
import type { TranscriptionAnswer } from '../../transcription/transcription.js';
import { parseOptions, TEXT_FIELDS } from '../api/transcribe-fields.js';
import { transcriptionBody } from '../api/transcription-schema.js';
import type { HttpDeps } from '../deps.js';
import { JSON_TYPE } from '../exchange.js';
import type { Route } from '../route.js';
import { transcriptionRoute, type Dialect, type WrittenAnswer } from '../transcription-route.js';
import { PATHS } from './paths.js';
import { tryView } from './try-view.js';
import type { Visits } from './visits.js';

const FIELDS = ['language', 'translate_to', 'diarize'];

export function tryRoutes(deps: HttpDeps, visits: Visits): Route[] {
  const { ledger, transcription } = deps;
  const dialect: Dialect = {
    path: PATHS.tryTranscribe,
    form: {
      fileField: 'audio',
      textFields: new Map([...TEXT_FIELDS].filter(([name]) => FIELDS.includes(name))),
    },
    asked: ({ one }) => {
      const timestamps = transcription.offer.alignsWords ? 'word' : 'segment';
      return { options: { ...parseOptions(one), timestamps }, written };
    },
    idempotencyKey: () => null,
  };
  const page = visits.memberPage(async ({ account }) => {
    return tryView(transcription.offer, await ledger.balance(account.id));
  });
  return [
    { path: PATHS.try, methods: { GET: page } },
    transcriptionRoute(deps, dialect, (_, handler) => visits.memberCall(handler)),
  ];
}

/** The API's answer, and the files of it that can be downloaded. */
function written(answer: TranscriptionAnswer): WrittenAnswer {
  if ('body' in answer) throw new Error('A request without a key has no stored answer.');
  const { result } = answer;
  const [txt, srt, vtt] = (['text', 'srt', 'vtt'] as const).map((format) => answerText(result, format));
  const body = { transcription: transcriptionBody(result), files: { txt, srt, vtt } };
  return { type: JSON_TYPE, body: JSON.stringify(body), headers: {} };
}

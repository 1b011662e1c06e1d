/**
 * A recording, tried: the same work as the API's, charged under the account's dashboard key, and sent in events while
 * it is done.
 */
import { answerText, type TextFormat } from '../../transcription/answer-text.js';
import { NOT_KEPT } from '../../transcription/keep.js';
import type { TranscriptionResult } from '../../transcription/result.js';
import type { TranscriptionAnswer } from '../../transcription/transcription.js';
import { parseKeep, parseOptions, TEXT_FIELDS } from '../api/transcribe-fields.js';
import { transcriptionBody } from '../../transcription/transcription-body.js';
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { transcriptionRoute, type Dialect } from '../transcripts/transcription-route.js';
import type { TranscriptEvents } from '../transcripts/transcript-stream.js';
import { demonstrationNote } from './demonstration-note.js';
import { html } from './html.js';
import { noticeOf } from './notice.js';
import { PATHS, transcriptPath } from './paths.js';
import { tryView } from './try-view.js';
import type { PageHandlers } from './page-handlers.js';

const FIELDS = ['model', 'language', 'translate_to', 'diarize', 'num_speakers', 'prompt', 'punctuate', 'keep'];

export function tryRoutes(deps: HttpDeps, pages: PageHandlers): Route[] {
  const { ledger, library, transcription } = deps;
  const dialect: Dialect = {
    path: PATHS.tryTranscribe,
    form: {
      fileField: 'audio',
      textFields: new Map([...TEXT_FIELDS].filter(([name]) => FIELDS.includes(name))),
    },
    asked: ({ one }) => {
      const timestamps = transcription.offer.alignsWords ? 'word' : 'segment';
      const keep = parseKeep(one);
      return { options: { ...parseOptions(one), timestamps }, keep, events: eventsOf(keep === true) };
    },
    idempotencyKey: () => null,
    source: 'page',
  };
  const page = pages.memberPage(async ({ account, exchange }) => {
    const note = html`${noticeOf(exchange.req.query['notice'])} ${demonstrationNote(deps, account)}`;
    const models = deps.speechModels.list().map(({ info }) => info.modelName);
    const keeping = await library.settings(account.id);
    const balance = await ledger.credits.balance(account.id);
    return tryView(note, { offer: transcription.offer, models, keeping, ...balance });
  });
  return [
    { path: PATHS.try, methods: { GET: page } },
    transcriptionRoute(deps, dialect, (_, handler) => pages.memberCall(handler)),
  ];
}

/** What browser/try.ts reads. */
const eventsOf = (isToBeKept: boolean): TranscriptEvents => ({
  headers: {},
  progress: ({ doneSeconds, seconds, credits }) => ({
    event: 'progress',
    data: { done_seconds: doneSeconds, seconds, credits },
  }),
  delta: (text) => ({ event: 'delta', data: { text } }),
  done: async (answer) => [{ event: 'done', data: await doneBody(answer, isToBeKept) }],
});

/** The API's answer, and the files of it that can be downloaded. */
async function doneBody(answer: TranscriptionAnswer, isToBeKept: boolean): Promise<object> {
  if ('body' in answer) throw new Error('A request without a key has no stored answer.');
  const { result } = answer;
  const { translation, warnings } = result;
  const isKept = isToBeKept && warnings.every(({ code }) => code !== NOT_KEPT.code);
  return {
    ...(isKept ? { kept_at: transcriptPath(result.id) } : {}),
    transcription: transcriptionBody(result),
    files: await filesOf({ ...result, translation: null }),
    ...(translation === null ? {} : { translated_files: await filesOf(result) }),
  };
}

async function filesOf(result: TranscriptionResult): Promise<object> {
  const file = (format: TextFormat): Promise<string> => answerText(result, format);
  return { txt: await file('text'), srt: await file('srt'), vtt: await file('vtt') };
}

/** One kept transcript: shown, corrected, exported, deleted. */
import { VerbatimError } from '../../../errors.js';
import type { Account } from '../../../ledger/types.js';
import type { KeptTranscript } from '../../../library/document.js';
import type { EditTarget } from '../../../library/editing.js';
import { EXPORT_FORMATS, type ExportFormat } from '../../../library/exports/export.js';
import { jsonBytes } from '../../../transcription/json-pieces.js';
import type { HttpDeps } from '../../app/deps.js';
import { JSON_TYPE, type Exchange } from '../../app/exchange.js';
import { attachment } from '../../app/file-names.js';
import { readJsonObject } from '../../app/request-body.js';
import type { Route } from '../../app/route.js';
import { ERROR_TABLE } from '../../errors/error-table.js';
import { questionView } from '../components/question.js';
import { toast } from '../components/toast.js';
import { noticeOf } from '../notice.js';
import { fieldOf, type MemberRequest, type PageHandlers, type PageReply } from '../page-handlers.js';
import { PATHS, transcriptPath } from '../paths.js';
import { Refusal } from '../refusal.js';
import { TEXTS } from '../texts.js';
import { changesView } from './changes-view.js';
import { secondsOfClock } from './clock.js';
import { transcriptView } from './transcript-view.js';

const { transcripts: texts } = TEXTS;

const MOST_CHANGES = 100;
const NAME_FIELD = /^name-(S\d{1,3})$/;

/** After a change, `count`: of the places that were replaced. null: there is no such transcript. */
type Change = (
  target: EditTarget,
  form: URLSearchParams,
) => Promise<KeptTranscript | { transcript: KeptTranscript; count: number } | null>;

export function openedTranscriptRoutes(deps: HttpDeps, pages: PageHandlers): Route[] {
  const { library } = deps;
  const { editing } = library;

  async function kept({ account, exchange }: Pick<MemberRequest, 'account' | 'exchange'>): Promise<KeptTranscript> {
    const found = await library.find(account.id, String(exchange.req.params['id']));
    if (found === null) throw new Refusal(404, TEXTS.errors.noTranscript);
    return found;
  }

  async function show(request: MemberRequest): Promise<PageReply> {
    const { notice, replaced, translation } = request.exchange.req.query;
    const count = typeof replaced === 'string' && /^\d{1,6}$/.test(replaced) ? Number(replaced) : null;
    return transcriptView({
      ...(await kept(request)),
      notice: count === null ? noticeOf(notice) : toast(texts.replaced(count)),
      showsTranslation: translation === 'shown',
    });
  }

  /** A form that changes the transcript; what is refused is explained beside its field. */
  const change = (make: Change): Route['methods'] => ({
    POST: pages.memberForm(async (request, form) => {
      try {
        const changed = await make(targetOf(request, form), form);
        if (changed === null) throw new Refusal(404, TEXTS.errors.noTranscript);
        if (!('count' in changed)) return { to: transcriptPath(changed.stored.id) };
        return { to: `${transcriptPath(changed.transcript.stored.id)}?replaced=${changed.count}#replace` };
      } catch (error) {
        if (!(error instanceof VerbatimError) || !['invalid_request', 'conflict', 'library_full'].includes(error.code))
          throw error;
        if (error.code !== 'invalid_request') throw new Refusal(ERROR_TABLE[error.code].status, error.message);
        const problem = { field: error.param ?? '', message: error.message };
        const before = await kept(request);
        return { ...transcriptView({ ...before, notice: null, showsTranslation: false, error: problem }), status: 400 };
      }
    }),
  });

  return [
    { path: transcriptPath(':id'), methods: { GET: pages.memberPage(show) } },
    {
      path: transcriptPath(':id', 'words'),
      methods: {
        GET: pages.memberData(async (exchange, account) => {
          const { document } = await kept({ account, exchange });
          const words = document.segments.map((segment) => wordsOf(segment));
          exchange.send(200, JSON_TYPE, await jsonBytes(words));
        }),
      },
    },
    {
      path: transcriptPath(':id', 'segments'),
      methods: {
        POST: pages.memberCall((exchange, { account }) =>
          orJsonError(exchange, async () => {
            const { version, segments } = await readJsonObject(exchange, deps);
            const texts = segmentTexts(segments);
            const id = String(exchange.req.params['id']);
            const target = { accountId: account.id, id, version: Number(version), by: pageEditor(account.email) };
            const changed = await editing.edit(target, { segments: texts });
            if (changed === null) throw new VerbatimError('transcript_not_found', TEXTS.errors.noTranscript);
            exchange.json(200, savedBody(changed, texts));
          }),
        ),
      },
    },
    {
      path: transcriptPath(':id', 'names'),
      methods: change((target, form) => {
        const names = [...form].flatMap(([name, value]) => {
          const speaker = NAME_FIELD.exec(name)?.[1];
          return speaker === undefined ? [] : [[speaker, value]];
        });
        const speakers = names.length === 0 ? {} : { speakers: Object.fromEntries(names) as Record<string, string> };
        return editing.edit(target, { title: fieldOf(form, 'title'), ...speakers });
      }),
    },
    {
      path: transcriptPath(':id', 'merge'),
      methods: change((target, form) =>
        editing.mergeSpeakers(target, { from: fieldOf(form, 'from'), into: fieldOf(form, 'into') }),
      ),
    },
    {
      path: transcriptPath(':id', 'notes'),
      methods: change((target, form) => {
        const atSeconds = secondsOfClock(fieldOf(form, 'at'));
        if (atSeconds === null) throw new VerbatimError('invalid_request', texts.noteAtHelp, { param: 'at' });
        return editing.note(target, { atSeconds, text: fieldOf(form, 'text') });
      }),
    },
    {
      path: transcriptPath(':id', 'notes/delete'),
      methods: change((target, form) => editing.deleteNote(target, fieldOf(form, 'note'))),
    },
    { path: transcriptPath(':id', 'undo'), methods: change((target) => editing.undo(target)) },
    {
      path: transcriptPath(':id', 'replace'),
      methods: change((target, form) =>
        editing.replace(target, {
          ...{ find: fieldOf(form, 'find'), replaceWith: fieldOf(form, 'replace') },
          ...{ matchCase: form.get('match-case') === 'true', wholeWords: form.get('whole-words') === 'true' },
        }),
      ),
    },
    { path: transcriptPath(':id', 'export'), methods: { GET: pages.memberData(download) } },
    { path: transcriptPath(':id', 'audio'), methods: { GET: pages.memberData(listen) } },
    {
      path: transcriptPath(':id', 'changes'),
      methods: {
        GET: pages.memberPage(async (request) => {
          const { stored } = await kept(request);
          const page = { limit: MOST_CHANGES, before: null };
          return changesView(stored, await library.changes(request.account.id, stored.id, page));
        }),
      },
    },
    {
      path: transcriptPath(':id', 'delete'),
      methods: {
        GET: pages.memberPage(async (request) => {
          const { id, title } = (await kept(request)).stored;
          return questionView({
            ...{ title: texts.deleteTitle, about: title, note: texts.deleteWarning, submit: texts.deleteSubmit },
            action: transcriptPath(id, 'delete'),
            back: { href: transcriptPath(id), label: texts.keepIt },
          });
        }),
        POST: pages.memberForm(async ({ account, exchange }) => {
          const deleted = await library.delete(account.id, String(exchange.req.params['id']));
          if (deleted === null) throw new Refusal(404, TEXTS.errors.noTranscript);
          return { to: `${PATHS.transcripts}?notice=transcript-deleted` };
        }),
      },
    },
  ];

  async function download(exchange: Exchange, account: Account): Promise<void> {
    const { format: given, translation } = exchange.req.query;
    const transcript = await kept({ account, exchange });
    const isTranslated = translation === 'true';
    if (isTranslated && transcript.document.translation === null) throw new Refusal(404, TEXTS.errors.noTranslation);
    const format = exportFormatOf(given);
    const { type, title, body } = await library.export(transcript, format, { translated: isTranslated });
    exchange.send(200, type, body, attachment(title, format));
  }

  async function listen(exchange: Exchange, account: Account): Promise<void> {
    const recording = await library.audioOf(account.id, String(exchange.req.params['id']));
    if (recording === null) throw new Refusal(404, TEXTS.errors.noTranscript);
    await exchange.recording(recording.path, recording.type);
  }
}

function exportFormatOf(given: unknown): ExportFormat {
  const format = EXPORT_FORMATS.find((one) => one === given);
  if (format === undefined) throw new Refusal(400, TEXTS.errors.exportFormat(EXPORT_FORMATS.join(', ')));
  return format;
}

function targetOf({ account, exchange }: MemberRequest, form: URLSearchParams): EditTarget {
  const version = Number(fieldOf(form, 'version'));
  return { accountId: account.id, id: String(exchange.req.params['id']), version, by: pageEditor(account.email) };
}

function pageEditor(name: string): EditTarget['by'] {
  return { kind: 'page', name };
}

type Words = [startMs: number, endMs: number, text: string][];

function wordsOf({ words }: KeptTranscript['document']['segments'][number]): Words {
  return words.map(({ startSeconds, endSeconds, text }) => [
    Math.round(startSeconds * 1000),
    Math.round(endSeconds * 1000),
    text,
  ]);
}

function segmentTexts(given: unknown): { index: number; text: string }[] {
  const isText = (one: unknown): one is { index: number; text: string } =>
    typeof one === 'object' &&
    one !== null &&
    'index' in one &&
    Number.isInteger(one.index) &&
    'text' in one &&
    typeof one.text === 'string';
  if (Array.isArray(given) && given.length > 0 && given.every(isText)) return given;
  throw new VerbatimError('invalid_request', 'Send segments as a list of {index, text}.', { param: 'segments' });
}

/** What browser/transcript-corrections.ts reads. */
function savedBody({ stored, document }: KeptTranscript, texts: readonly { index: number }[]): object {
  return {
    version: stored.version,
    segments: texts.flatMap(({ index }) => {
      const segment = document.segments[index];
      return segment === undefined ? [] : [{ index, text: segment.text, words: wordsOf(segment) }];
    }),
  };
}

async function orJsonError(exchange: Exchange, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Refusal) exchange.json(error.status, { error: { message: error.message } });
    else if (error instanceof VerbatimError) {
      const { code, message, param } = error;
      exchange.json(ERROR_TABLE[code].status, { error: { code, message, param: param ?? null } });
    } else throw error;
  }
}

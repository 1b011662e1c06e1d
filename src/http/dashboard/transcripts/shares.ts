/** Links to read a transcript: made, listed and revoked. A link is shown once, when it is made. */
import { VerbatimError } from '../../../errors.js';
import type { StoredTranscript, TranscriptShare } from '../../../ledger/transcripts.js';
import type { HttpDeps } from '../../app/deps.js';
import type { Route } from '../../app/route.js';
import { button, linkButton } from '../components/button.js';
import { card } from '../components/card.js';
import { codeBlock } from '../components/code-block.js';
import { select } from '../components/field.js';
import { questionView } from '../components/question.js';
import { table } from '../components/table.js';
import { minuteOf, moment } from '../format.js';
import { html, type Html } from '../html.js';
import { noticeOf } from '../notice.js';
import type { View } from '../page.js';
import { fieldOf, type MemberRequest, type PageHandlers, type PageReply } from '../page-handlers.js';
import { revokeSharePath, sharedPath, transcriptPath } from '../paths.js';
import { Refusal } from '../refusal.js';
import { TEXTS } from '../texts.js';

const { transcripts: texts } = TEXTS;
const DAY_MS = 86_400_000;

export function transcriptShareRoutes({ library, clock }: HttpDeps, pages: PageHandlers): Route[] {
  async function stored({ account, exchange }: MemberRequest): Promise<StoredTranscript> {
    const found = await library.find(account.id, String(exchange.req.params['id']));
    if (found === null) throw new Refusal(404, TEXTS.errors.noTranscript);
    return found.stored;
  }

  async function show(request: MemberRequest, made: string | null = null): Promise<View> {
    const transcript = await stored(request);
    const shares = await library.shares(request.account.id, transcript.id);
    return sharesView({ transcript, shares, made, notice: request.exchange.req.query['notice'] });
  }

  async function make(request: MemberRequest, form: URLSearchParams): Promise<PageReply> {
    const { id } = await stored(request);
    const days = fieldOf(form, 'days');
    if (!Object.hasOwn(texts.shareDays, days)) throw new Refusal(400, TEXTS.errors.form('days'));
    const expiresAt = new Date(clock() + Number(days) * DAY_MS).toISOString();
    try {
      const made = await library.share(request.account.id, id, {
        expiresAt,
        includesAudio: form.get('audio') === 'true',
      });
      if (made === null) throw new Refusal(404, TEXTS.errors.noTranscript);
      // Shown in the answer to the form: a link that is shown once has no page to be sent on to.
      return await show(request, `${request.site.origin}${sharedPath(made.token)}`);
    } catch (error) {
      if (error instanceof VerbatimError && error.code === 'invalid_request') throw new Refusal(400, error.message);
      throw error;
    }
  }

  async function askRevoke(request: MemberRequest): Promise<View> {
    const transcript = await stored(request);
    const { id, title } = transcript;
    const { share } = request.exchange.req.params;
    const shares = await library.shares(request.account.id, id);
    const found = shares.find((one) => one.id === share);
    if (found === undefined) throw new Refusal(404, TEXTS.errors.noShare);
    return questionView({
      ...{ title: texts.revokeTitle, note: texts.revokeNote, submit: texts.revoke },
      about: html`${title}, ${moment(found.createdAt)}`,
      action: revokeSharePath(id, found.id),
      back: { href: transcriptPath(id, 'shares'), label: texts.keepLink },
    });
  }

  async function revoke(request: MemberRequest): Promise<PageReply> {
    const { id } = await stored(request);
    const isRevoked = await library.revokeShare(request.account.id, id, String(request.exchange.req.params['share']));
    if (!isRevoked) throw new Refusal(404, TEXTS.errors.noShare);
    return { to: `${transcriptPath(id, 'shares')}?notice=share-revoked` };
  }

  return [
    {
      path: transcriptPath(':id', 'shares'),
      methods: { GET: pages.memberPage((request) => show(request)), POST: pages.memberForm(make) },
    },
    {
      path: revokeSharePath(':id', ':share'),
      methods: { GET: pages.memberPage(askRevoke), POST: pages.memberForm(revoke) },
    },
  ];
}

interface SharesPage {
  transcript: StoredTranscript;
  shares: readonly TranscriptShare[];
  /** The address of the link that was just made. */
  made: string | null;
  notice: unknown;
}

function sharesView({ transcript, shares, made, notice }: SharesPage): View {
  const { id, title, audioBytes } = transcript;
  const main = html`<nav class="crumbs" aria-label="${texts.title}"><a href="${transcriptPath(id)}">${title}</a></nav>
    ${noticeOf(notice)} ${made !== null && madeCard(made)}
    ${card({
      title: texts.shareTitle,
      note: texts.shareNote,
      content: html`<form method="post" action="${transcriptPath(id, 'shares')}">
        ${select({
          ...{ label: texts.shareFor, name: 'days', value: '7' },
          choices: Object.entries(texts.shareDays).map(([value, label]) => ({ value, label })),
        })}
        ${
          audioBytes > 0 &&
          html`<label class="choice"><input type="checkbox" name="audio" value="true" /> ${texts.shareAudio}</label>`
        }
        ${button({ label: texts.shareSubmit, icon: 'link' })}
      </form>`,
    })}
    ${card({
      title: texts.shares,
      content: shares.length === 0 ? html`<p>${texts.noShares}</p>` : sharesTable(id, shares),
    })}`;
  return { title: texts.share, main, modules: ['copy.js'] };
}

function madeCard(address: string): Html {
  return card({
    title: texts.shareLink,
    note: texts.shareMade,
    content: codeBlock({ id: 'share-link', text: address, label: texts.shareLink }),
  });
}

function sharesTable(id: string, shares: readonly TranscriptShare[]): Html {
  return table({
    caption: texts.shares,
    columns: [texts.shareCreated, texts.shareExpires, texts.shareWith, texts.action],
    rows: shares.map((share) => [
      moment(share.createdAt),
      moment(share.expiresAt),
      share.includesAudio ? texts.yes : texts.no,
      linkButton({
        ...{ label: texts.revoke, fullLabel: texts.revokeThe(minuteOf(share.createdAt)) },
        ...{ href: revokeSharePath(id, share.id), kind: 'danger', asks: true },
      }),
    ]),
  });
}

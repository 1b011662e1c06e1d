/** Where to begin, and short answers. */
import { GUIDE } from '../app/guide-path.js';
import type { Route } from '../app/route.js';
import { linkButton } from './components/button.js';
import { card } from './components/card.js';
import { html, type Html } from './html.js';
import type { View } from './page.js';
import { DOCS, PATHS } from './paths.js';
import { TEXTS } from './texts.js';
import type { PageHandlers } from './page-handlers.js';

const { help: texts } = TEXTS;

export function helpRoutes(pages: PageHandlers): Route[] {
  return [{ path: PATHS.help, methods: { GET: pages.memberPage(helpView) } }];
}

function helpView(): View {
  const { title, steps } = texts.start;
  const step = (path: string, { link, rest }: { link: string; rest: string }): Html =>
    html`<li><a href="${path}">${link}</a>${rest}</li>`;
  const begin = html`<ol>
    ${step(PATHS.keys, steps.key)} ${step(PATHS.try, steps.send)} ${step(PATHS.history, steps.watch)}
  </ol>`;
  const main = html`${card({ title, content: begin })}
    <div class="columns">
      ${texts.questions.map((question) => card({ title: question.title, content: html`<p>${question.text}</p>` }))}
    </div>`;
  const actions = html`${linkButton({ href: `${GUIDE}/`, label: texts.manual, icon: 'help' })}
  ${linkButton({ href: DOCS, label: texts.reference, icon: 'api', kind: 'secondary' })}`;
  return { title: TEXTS.pages.help, lead: texts.lead, actions, main };
}

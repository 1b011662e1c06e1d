/** What serves, and how: version, models and their downloads, settings in force. */
import { ModelRefused, VerbatimError } from '../../errors.js';
import type { HttpDeps } from '../app/deps.js';
import { ERROR_TABLE } from '../errors/error-table.js';
import type { Route } from '../app/route.js';
import { html } from './html.js';
import { modelsSection } from './models-view.js';
import { noticeOf } from './notice.js';
import type { View } from './page.js';
import { serverView } from './server-view.js';
import { PATHS, modelActionPath } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';
import type { MemberRequest, PageReply, PageHandlers } from './page-handlers.js';

export function operatedServerRoutes(deps: HttpDeps, pages: PageHandlers): Route[] {
  const { modelStore, models } = deps;
  const showModels = ({ exchange }: MemberRequest): View => modelsView(deps, exchange.req.query['notice']);

  function download({ exchange }: MemberRequest): PageReply {
    const name = String(exchange.req.params['id']);
    modelStore.download(name);
    return { to: `${PATHS.models}?notice=download-begun` };
  }

  function cancel({ exchange }: MemberRequest): PageReply {
    const name = String(exchange.req.params['id']);
    if (!modelStore.cancel(name)) throw new Refusal(409, TEXTS.models.notRunning(name));
    return { to: `${PATHS.models}?notice=download-cancelled` };
  }

  function use({ account, exchange }: MemberRequest): PageReply {
    models.use(String(exchange.req.params['id']), account.email);
    return { to: `${PATHS.models}?notice=model-begun` };
  }

  return [
    {
      path: PATHS.server,
      methods: { GET: pages.operatorPage(({ exchange }) => serverView(deps, exchange.req.query['filter'])) },
    },
    { path: PATHS.models, methods: { GET: pages.operatorPage(showModels) } },
    {
      path: modelActionPath(':id', 'download'),
      methods: { POST: pages.operatorForm('model-downloaded', refusing(download)) },
    },
    {
      path: modelActionPath(':id', 'use'),
      methods: { POST: pages.operatorForm('model-used', refusing(use)) },
    },
    {
      path: modelActionPath(':id', 'cancel'),
      methods: { POST: pages.operatorForm('download-cancelled', cancel) },
    },
  ];
}

/** Refusals of the model store or the switch are shown on a page. */
function refusing(act: (request: MemberRequest) => PageReply): (request: MemberRequest) => PageReply {
  return (request) => {
    try {
      return act(request);
    } catch (error) {
      if (error instanceof VerbatimError) throw new Refusal(ERROR_TABLE[error.code].status, error.message);
      if (error instanceof ModelRefused) throw new Refusal(409, error.message);
      throw error;
    }
  };
}

function modelsView({ modelStore, models, modelsInMemory, machineModel }: HttpDeps, notice: unknown): View {
  const main = html`${noticeOf(notice)}
  ${modelsSection({
    models: modelStore.list(),
    turn: models.state(),
    memory: modelsInMemory(),
    best: machineModel(),
  })}`;
  return { title: TEXTS.pages.models, main, modules: ['refresh.js'] };
}

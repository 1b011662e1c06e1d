/** What the server answers: the routes of every resource, and where errors have a shape of their own. */
import { accountRoutes } from '../http/api/account.js';
import { adminRoutes } from '../http/api/admin.js';
import { jobRoutes } from '../http/api/jobs.js';
import { keyRoutes } from '../http/api/keys.js';
import { transcribeRoutes } from '../http/api/transcribe.js';
import { transcriptRoutes } from '../http/api/transcripts.js';
import { docsRoutes } from '../http/openapi/docs.js';
import { guideRoutes } from '../http/openapi/guide.js';
import { shareError, sharedRoutes } from '../http/share/share.js';
import { openAiAudioRoutes } from '../http/openai/audio.js';
import { openAiModelRoutes } from '../http/openai/models.js';
import { realtimeRoutes, realtimeSockets } from '../http/realtime/routes.js';
import { GRANT_PATH, grantRoutes } from '../http/deepgram/grant.js';
import { listenFileRoutes } from '../http/deepgram/files.js';
import { probeRoutes } from '../http/api/probes.js';
import { dashboardError, dashboardRoutes } from '../http/dashboard/routes.js';
import { listenSockets } from '../http/deepgram/sockets.js';
import { liveCaptionSockets } from '../http/dashboard/live-captions.js';
import { DASHBOARD, PATHS } from '../http/dashboard/paths.js';
import { OPENAI_PREFIX, openAiError } from '../http/openai/errors.js';
import { deepgramError, LISTEN_PATH } from '../http/deepgram/errors.js';
import { SHARE } from '../http/app/share-path.js';
import { jsonError, type ErrorForms } from '../http/app/error-handler.js';
import type { MakeRoutes } from '../http/app/app.js';
import type { HttpDeps } from '../http/app/deps.js';
import type { SocketRoute } from '../http/websocket/upgrade.js';

export const RESOURCES: readonly MakeRoutes[] = [
  accountRoutes,
  transcribeRoutes,
  jobRoutes,
  transcriptRoutes,
  openAiAudioRoutes,
  openAiModelRoutes,
  realtimeRoutes,
  grantRoutes,
  listenFileRoutes,
  keyRoutes,
  adminRoutes,
  probeRoutes,
  docsRoutes,
  () => guideRoutes(),
  sharedRoutes,
  dashboardRoutes,
];

/** The routes of a protocol of live sessions. */
export const SOCKETS: readonly ((deps: HttpDeps) => SocketRoute[])[] = [
  realtimeSockets,
  listenSockets,
  liveCaptionSockets,
];

export function errorForms({ dashboard }: { dashboard: boolean }): ErrorForms[] {
  const compatible = [
    { under: GRANT_PATH, form: deepgramError },
    { under: LISTEN_PATH, form: deepgramError },
    { under: OPENAI_PREFIX, form: openAiError },
    { under: `${SHARE}/`, form: shareError },
  ];
  const pages = [
    { under: PATHS.tryTranscribe, form: jsonError },
    { under: DASHBOARD, form: dashboardError },
  ];
  return dashboard ? [...compatible, ...pages] : compatible;
}

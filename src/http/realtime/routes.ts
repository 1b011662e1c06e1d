/** OpenAI's Realtime API: its live sessions, and the ephemeral keys for them. */
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import type { SocketRoute } from '../websocket/upgrade.js';
import { clientSecretRoutes } from './client-secrets.js';
import { transcriptionSocket } from './sockets.js';
import { translationSecretRoutes, translationSocket } from './translation-sockets.js';

export function realtimeRoutes(deps: HttpDeps): Route[] {
  return [...clientSecretRoutes(deps), ...translationSecretRoutes(deps)];
}

export function realtimeSockets(deps: HttpDeps): SocketRoute[] {
  return [transcriptionSocket(deps), translationSocket(deps)];
}

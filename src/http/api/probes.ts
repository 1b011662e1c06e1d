/** /healthz, /readyz and /metrics: for load balancers, orchestrators and Prometheus; no API key. */
import type { ErrorCode } from '../../errors.js';
import { requireToken } from '../auth/auth.js';
import type { HttpDeps } from '../app/deps.js';
import type { Exchange } from '../app/exchange.js';
import { errorBody } from '../errors/error-schema.js';
import { headerOf, RetryAfter } from '../schema/headers.js';
import { readinessBody, type Readiness } from './probes-schema.js';
import type { Handler, Route } from '../app/route.js';

export function probeRoutes(deps: HttpDeps): Route[] {
  return [
    { path: '/healthz', methods: { GET: (exchange) => exchange.json(200, { status: 'ok' }) } },
    { path: '/readyz', methods: { GET: readyz(deps) } },
    { path: '/metrics', methods: { GET: metrics(deps) } },
  ];
}

function readyz(deps: HttpDeps): Handler {
  const { engine, inFlight, ledger, uploads } = deps;
  return async (exchange) => {
    const readiness = {
      model: engine.info.modelName,
      demonstration: engine.info.isDemonstration,
      device: { ids: [...engine.info.devices.ids], name: engine.info.devices.name },
      next_model: nextModel(deps),
      checks: {
        model_loaded: engine.stats().slots > 0,
        database_writable: await passes(() => ledger.checkWritable()),
        uploads_writable: await passes(() => uploads.checkWritable()),
        accepting_requests: !inFlight.draining,
      },
    };
    const body = readinessBody(readiness);
    if (body.status === 'ready') exchange.json(200, body);
    else sendUnready(exchange, body, inFlight.draining, engine.stats().retryAfterSeconds);
  };
}

function nextModel({ automaticModel, modelStore }: HttpDeps): Readiness['next_model'] {
  const state = automaticModel();
  if (state === null || state.phase === 'ended') return null;
  const { phase, model: name, problem } = state;
  // The list reads the manifest and looks at every model's files.
  const stored = name === null ? undefined : modelStore.list().find((model) => model.name === name);
  const { receivedBytes = null, totalBytes = null } = stored ?? {};
  return { name, phase, received_bytes: receivedBytes, total_bytes: totalBytes, problem };
}

/** The report, with the contract's error beside it for clients that know only that. */
function sendUnready(exchange: Exchange, body: object, draining: boolean, retryAfter: number): void {
  const code: ErrorCode = draining ? 'shutting_down' : 'overloaded';
  const message = draining ? 'The server is shutting down.' : 'The server cannot take work now; see checks.';
  const { error } = errorBody({ code, message, param: null }, exchange.id);
  exchange.facts.code = code;
  exchange.json(503, { ...body, error }, headerOf(RetryAfter, retryAfter));
}

async function passes(check: () => void | Promise<void>): Promise<boolean> {
  try {
    await check();
    return true;
  } catch {
    return false;
  }
}

function metrics({ metrics: registry, settings }: HttpDeps): Handler {
  return async (exchange) => {
    if (settings.metricsToken !== null) {
      requireToken(exchange.req.headers.authorization, settings.metricsToken);
    }
    exchange.send(200, registry.contentType, await registry.text());
  };
}

/** /healthz, /readyz and /metrics: for load balancers, orchestrators and Prometheus; no API key. */
import type { ErrorCode } from '../../errors.js';
import { requireToken } from '../auth/auth.js';
import type { HttpDeps } from '../app/deps.js';
import type { Exchange } from '../app/exchange.js';
import { errorBody } from '../errors/error-schema.js';
import { headerOf, RetryAfter } from '../schema/headers.js';
import { readinessBody } from './probes-schema.js';
import type { Handler, Route } from '../app/route.js';

export function probeRoutes(deps: HttpDeps): Route[] {
  return [
    { path: '/healthz', methods: { GET: (exchange) => exchange.json(200, { status: 'ok' }) } },
    { path: '/readyz', methods: { GET: readyz(deps) } },
    { path: '/metrics', methods: { GET: metrics(deps) } },
  ];
}

function readyz({ engine, inFlight, ledger, uploads }: HttpDeps): Handler {
  return async (exchange) => {
    const readiness = {
      model: engine.info.modelName,
      demonstration: engine.info.isDemonstration,
      device: { ids: [...engine.info.devices.ids], name: engine.info.devices.name },
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

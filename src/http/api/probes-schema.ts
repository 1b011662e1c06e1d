/** What /healthz and /readyz answer. */
import { Type, type Static } from 'typebox';
import { oneOf, passed, requestId, shape } from '../schema/shape.js';

export const Health = shape({ status: Type.Literal('ok', { examples: ['ok'] }) });

export const Readiness = shape({
  status: oneOf(['ready', 'unavailable'], { examples: ['ready'] }),
  model: Type.String({ description: 'Name of the speech model.', examples: ['base'] }),
  demonstration: Type.Boolean({
    description: 'The model only shows that the service works; install a published one for real recordings.',
    examples: [false],
  }),
  device: shape({
    ids: Type.Array(Type.String(), { examples: [['cuda:0'], ['cpu']] }),
    name: Type.String({ examples: ['NVIDIA H200'] }),
  }),
  next_model: Type.Union(
    [
      shape({
        name: Type.Union([Type.String(), Type.Null()], { examples: ['base-q8_0'] }),
        phase: oneOf(['measuring', 'downloading', 'trying', 'waiting'], { examples: ['downloading'] }),
        received_bytes: Type.Union([Type.Integer(), Type.Null()], { examples: [41_943_040] }),
        total_bytes: Type.Union([Type.Integer(), Type.Null()], { examples: [81_768_585] }),
        problem: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
      }),
      Type.Null(),
    ],
    {
      examples: [
        { name: 'base-q8_0', phase: 'downloading', received_bytes: 41_943_040, total_bytes: 81_768_585, problem: null },
      ],
      description: 'The published model that will replace the demonstration model automatically. Null: there is none.',
    },
  ),
  checks: shape({
    model_loaded: passed('The speech model is in memory.'),
    database_writable: passed('The ledger can be written.'),
    uploads_writable: passed('The upload directory can be written.'),
    accepting_requests: passed('The server is not draining.'),
  }),
  error: Type.Optional(
    shape(
      {
        code: oneOf(['shutting_down', 'overloaded'], { examples: ['shutting_down'] }),
        message: Type.String({ examples: ['The server is shutting down.'] }),
        param: Type.Null({ examples: [null] }),
        request_id: requestId,
      },
      'With status 503: the error, as in other answers.',
    ),
  ),
});
export type Readiness = Static<typeof Readiness>;

export function readinessBody({
  model,
  demonstration,
  device,
  next_model,
  checks,
}: Omit<Readiness, 'status' | 'error'>): Readiness {
  const ready = Object.values(checks).every((check) => check);
  return { status: ready ? 'ready' : 'unavailable', model, demonstration, device, next_model, checks };
}

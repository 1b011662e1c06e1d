/** GET /v1/models and GET /v1/models/{model}: what this process serves. */
import { Type, type Static } from 'typebox';
import { authenticated } from '../auth/auth.js';
import type { HttpDeps } from '../app/deps.js';
import { parameter } from '../schema/parameter.js';
import type { Route } from '../app/route.js';
import { shape } from '../schema/shape.js';
import { requireServed } from './model-names.js';

export const OpenAiModel = shape({
  id: Type.String({ examples: ['base'] }),
  object: Type.Unsafe<'model'>({ type: 'string', const: 'model', examples: ['model'] }),
  created: Type.Integer({
    minimum: 0,
    description: 'When the process began to serve it, seconds since 1970.',
    examples: [1_795_195_440],
  }),
  owned_by: Type.String({ examples: ['verbatim'] }),
});

export const OpenAiModelList = shape({
  object: Type.Unsafe<'list'>({ type: 'string', const: 'list', examples: ['list'] }),
  data: Type.Array(OpenAiModel),
});

export const ModelName = parameter({
  name: 'model',
  in: 'path',
  required: true,
  description: 'The name of the model; any that begins with `whisper-` or `gpt-` is the one that is served.',
  schema: Type.String({ minLength: 1 }),
  example: 'base',
});

export function openAiModelRoutes(deps: HttpDeps): Route[] {
  const served = (): Static<typeof OpenAiModel> => {
    const { serving: id, since } = deps.models.state();
    return { id, object: 'model', created: Math.floor(since / 1000), owned_by: 'verbatim' };
  };
  return [
    {
      path: '/v1/models',
      methods: {
        GET: authenticated(deps, (exchange) => exchange.json(200, { object: 'list', data: [served()] })),
      },
    },
    {
      path: '/v1/models/:model',
      methods: {
        GET: authenticated(deps, (exchange) => {
          requireServed(String(exchange.req.params['model']), deps);
          exchange.json(200, served());
        }),
      },
    },
  ];
}

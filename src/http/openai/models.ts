/** GET /v1/models and GET /v1/models/{model}: the installed speech models, in memory or not. */
import { Type, type Static } from 'typebox';
import type { ListedSpeechModel } from '../../transcription/engine-lease.js';
import { authenticated } from '../auth/auth.js';
import type { HttpDeps } from '../app/deps.js';
import { parameter } from '../schema/parameter.js';
import type { Route } from '../app/route.js';
import { shape } from '../schema/shape.js';
import { installedModel } from './model-names.js';

const ability = (description: string, example: boolean) => Type.Boolean({ description, examples: [example] });

export const OpenAiModel = shape({
  id: Type.String({ examples: ['base'] }),
  object: Type.Unsafe<'model'>({ type: 'string', const: 'model', examples: ['model'] }),
  created: Type.Integer({
    minimum: 0,
    description: 'When it was loaded, seconds since 1970; 0: it is not loaded.',
    examples: [1_795_195_440],
  }),
  owned_by: Type.String({ examples: ['verbatim'] }),
  loaded: ability('Whether it is in memory; one that is not is loaded for the first request that names it.', true),
  languages: Type.Array(Type.String(), {
    description: 'Languages that it transcribes; ISO 639-1.',
    examples: [['de', 'en', 'es']],
  }),
  detects_language: ability('Whether it detects the spoken language.', true),
  takes_prompt: ability('Whether it takes `prompt`.', true),
  takes_temperature: ability('Whether it takes a `temperature` above 0.', true),
  translates_to_english: ability('Whether it translates speech into English by itself.', true),
  demonstration: ability('Whether it is a demonstration model, for synthetic voices and a phrase book.', false),
});

export const OpenAiModelList = shape({
  object: Type.Unsafe<'list'>({ type: 'string', const: 'list', examples: ['list'] }),
  data: Type.Array(OpenAiModel, { description: 'The default model first.' }),
});

export const ModelName = parameter({
  name: 'model',
  in: 'path',
  required: true,
  description:
    'The name of an installed model. Any other name that begins with `whisper-` or `gpt-` means the ' +
    'default model.',
  schema: Type.String({ minLength: 1 }),
  example: 'base',
});

function modelBody({ info, loaded, since }: ListedSpeechModel): Static<typeof OpenAiModel> {
  const { detectsLanguage, takesPrompt, takesTemperature } = info.abilities;
  return {
    ...{ id: info.modelName, object: 'model', created: Math.floor((since ?? 0) / 1000), owned_by: 'verbatim' },
    ...{ loaded, languages: [...info.languages] },
    ...{ detects_language: detectsLanguage, takes_prompt: takesPrompt, takes_temperature: takesTemperature },
    ...{ translates_to_english: info.translatesToEnglish, demonstration: info.isDemonstration },
  };
}

export function openAiModelRoutes(deps: HttpDeps): Route[] {
  const { speechModels } = deps;
  return [
    {
      path: '/v1/models',
      methods: {
        GET: authenticated(deps, (exchange) =>
          exchange.json(200, { object: 'list', data: speechModels.list().map(modelBody) }),
        ),
      },
    },
    {
      path: '/v1/models/:model',
      methods: {
        GET: authenticated(deps, (exchange) =>
          exchange.json(200, modelBody(installedModel(String(exchange.req.params['model']), deps))),
        ),
      },
    },
  ];
}

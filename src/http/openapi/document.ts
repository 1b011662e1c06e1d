/** The OpenAPI 3.1 document of the service; tests validate every answer they see against it. */
import { errorResponse } from './error-responses.js';
import { headers, parameters } from './references.js';
import { paths } from './paths.js';
import { schemas } from './schemas.js';

type Json = Record<string, unknown>;

const DESCRIPTION = `Every JSON answer is one object in UTF-8. Times are ISO 8601, UTC, with milliseconds.

**Keys.** Send \`Authorization: Bearer <key>\`; the scheme may be in any case. A management key (scope
\`keys:write\`) may call everything but \`/api/v1/admin\`, which takes the scope \`admin\`.

**Errors** outside \`/v1\` have one shape, \`{"error": {"code", "message", "param", "request_id"}}\`. Codes are stable,
messages may change. An error never charges. A path that is not below is answered 404 \`not_found\` (response
\`NotFound\`), another method 405 \`method_not_allowed\` with \`Allow\` (response \`MethodNotAllowed\`).

**Retries.** 429 and 503 carry \`Retry-After\`. After a broken connection, repeat the request with the same
\`Idempotency-Key\`: it is charged once.

**HEAD** is answered wherever GET is, **OPTIONS** everywhere with 204 and \`Allow\`. No path has a trailing slash.`;

const tags = [
  { name: 'transcription', description: 'Audio in, text out.' },
  { name: 'jobs', description: 'Audio in, text later.' },
  { name: 'transcripts', description: 'Transcripts that the account keeps: found, read, corrected, shared.' },
  {
    name: 'openai',
    description: "The same for OpenAI's clients, with errors in their shape; see `OpenAiError`.",
  },
  { name: 'deepgram', description: "For Deepgram's clients, with errors in their shape; see `DeepgramError`." },
  { name: 'account', description: 'Credits and usage of the account that the key belongs to.' },
  { name: 'keys', description: 'For management keys.' },
  {
    name: 'admin',
    description: "All accounts, for keys with the scope `admin`, which the command line and an operator's page make.",
  },
  { name: 'service', description: 'For operators, load balancers and Prometheus; no API key.' },
];

const securitySchemes: Json = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A key of the form `vb_` and 43 URL-safe characters.',
  },
  metricsToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The value of `VERBATIM_METRICS_TOKEN`, where it is set.',
  },
};

export function openApiDocument(version: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Verbatim',
      version,
      summary: 'Self-hosted speech transcription and translation',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags,
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes,
      parameters,
      headers,
      responses: {
        NotFound: errorResponse(404, ['not_found']),
        MethodNotAllowed: errorResponse(405, ['method_not_allowed']),
      },
      schemas,
    },
  };
}

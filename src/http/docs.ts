/** /openapi.json, and /docs: Swagger UI from the installed package, so that it works without the internet. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HttpDeps } from './deps.js';
import { openApiDocument } from './openapi/document.js';
import type { Handler, Route } from './route.js';

const UI = dirname(require.resolve('swagger-ui-dist/package.json'));
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'";

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Verbatim API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#ui', deepLinking: true });\n`;

export function docsRoutes({ version }: Pick<HttpDeps, 'version'>): Route[] {
  const document = JSON.stringify(openApiDocument(version));
  return [
    get('/openapi.json', 'application/json; charset=utf-8', () => document),
    get('/docs', 'text/html; charset=utf-8', () => PAGE),
    get('/docs/start.js', 'text/javascript; charset=utf-8', () => START),
    get('/docs/swagger-ui.css', 'text/css; charset=utf-8', asset('swagger-ui.css')),
    get('/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', asset('swagger-ui-bundle.js')),
  ];
}

function get(path: string, type: string, body: () => string): Route {
  const handler: Handler = (exchange) =>
    exchange.send(200, type, body(), { 'Content-Security-Policy': POLICY });
  return { path, methods: { GET: handler } };
}

/** Read when it is first asked for, then kept. */
function asset(name: string): () => string {
  let text: string | null = null;
  return () => (text ??= readFileSync(join(UI, name), 'utf8'));
}

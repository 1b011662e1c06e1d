/** /openapi.json, and /docs: Swagger UI from the installed package, so that it works without the internet. */
import { basename, dirname } from 'node:path';
import type { HttpDeps } from '../deps.js';
import { openApiDocument } from './document.js';
import type { Handler, Route } from '../route.js';

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'",
};

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
    get('/openapi.json', text('application/json', document)),
    get('/docs', text('text/html', PAGE)),
    get('/docs/start.js', text('text/javascript', START)),
    get('/docs/swagger-ui.css', asset('text/css', 'swagger-ui.css')),
    get('/docs/swagger-ui-bundle.js', asset('text/javascript', 'swagger-ui-bundle.js')),
  ];
}

function get(path: string, handler: Handler): Route {
  return { path, methods: { GET: handler } };
}

function text(type: string, content: string): Handler {
  const body = Buffer.from(content);
  return (exchange) => exchange.send(200, `${type}; charset=utf-8`, body, HEADERS);
}

/** Of the installed package; that the file is there is looked at when the server starts. */
function asset(type: string, name: string): Handler {
  const path = require.resolve(`swagger-ui-dist/${name}`);
  return (exchange) => exchange.file(dirname(path), basename(path), `${type}; charset=utf-8`, HEADERS);
}

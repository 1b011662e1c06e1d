/** /openapi.json, and /docs: Swagger UI from the installed package, so that it works without the internet. */
import { basename, dirname, join } from 'node:path';
import { packageRoot } from '../../package-root.js';
import type { HttpDeps } from '../app/deps.js';
import { GUIDE } from '../app/guide-path.js';
import { openApiDocument } from './document.js';
import type { Handler, Route } from '../app/route.js';
import { themeOf, type Theme } from '../app/theme.js';

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:",
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  ].join('; '),
  'X-Frame-Options': 'DENY',
};

/** `home`: where the name of the service leads; null: nowhere. */
const pageOf = (theme: Theme, home: string | null): string => `<!doctype html>
<html lang="en"${theme === 'system' ? '' : ` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme === 'system' ? 'light dark' : theme}">
<title>Verbatim API</title>
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/brand.css">
</head>
<body>
<header>
<img src="/favicon.ico" alt="" width="26" height="26">
<strong>Verbatim</strong>
<h1>API reference</h1>
<nav aria-label="Pages">
${home === null ? '' : `<a href="${home}">Dashboard</a>`}
<a href="${GUIDE}/">Manual</a>
<a href="/openapi.json" download="openapi.json">OpenAPI document</a>
</nav>
</header>
<main id="ui"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/**
 * "Try it out" fills the fields of a form with their defaults and nothing else. Swagger UI would write an example into
 * every field, also into fields that exclude one another. It asks for the sample of the whole form with its media type,
 * and for each field's sample with the type `false`. Optional parameters are not filled in either: a second request
 * with the same Idempotency-Key would be a repeat of the first.
 */
const START = `const defaultsOf = ({ properties = {} }) =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([, field]) => field.default !== undefined)
      .map(([name, field]) => [name, field.default]),
  );
const onlyDefaults = () => ({
  afterLoad({ fn }) {
    const sample = fn.getSampleSchema;
    this.fn.getSampleSchema = (schema, type, ...more) => {
      if (type === 'multipart/form-data') return defaultsOf(schema);
      if (type !== false) return sample(schema, type, ...more);
      const field = schema.toJS();
      return field.default ?? (field.type === 'array' ? [] : '');
    };
  },
  wrapComponents: {
    // Fields that are empty are not sent, unless somebody ticks "Send empty value".
    ParameterIncludeEmpty: (Checkbox, { React }) => (props) => {
      const isIncludedOptions = { ...props.isIncludedOptions, defaultValue: false };
      return React.createElement(Checkbox, { ...props, isIncludedOptions });
    },
  },
});
const show = (spec) => {
  for (const parameter of Object.values(spec.components.parameters)) if (!parameter.required) delete parameter.example;
  SwaggerUIBundle({ spec, dom_id: '#ui', deepLinking: true, plugins: [onlyDefaults] });
};
fetch('/openapi.json').then(async (answer) => show(await answer.json()));
`;

export function docsRoutes({ version, settings }: Pick<HttpDeps, 'version' | 'settings'>): Route[] {
  const home = settings.dashboard ? '/dashboard' : null;
  const document = JSON.stringify(openApiDocument(version));
  return [
    get('/openapi.json', text('application/json', document)),
    get('/docs', (exchange) =>
      exchange.send(200, 'text/html; charset=utf-8', pageOf(themeOf(exchange), home), HEADERS),
    ),
    get('/docs/brand.css', built('text/css', 'docs.css')),
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

/** Of what the build has made. */
function built(type: string, name: string): Handler {
  const directory = join(packageRoot, 'dist', 'dashboard');
  return (exchange) => exchange.file(directory, name, `${type}; charset=utf-8`, HEADERS);
}

/** Of the installed package; that the file is there is looked at when the server starts. */
function asset(type: string, name: string): Handler {
  const path = require.resolve(`swagger-ui-dist/${name}`);
  return (exchange) => exchange.file(dirname(path), basename(path), `${type}; charset=utf-8`, HEADERS);
}

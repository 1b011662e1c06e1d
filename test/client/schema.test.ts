import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { format, resolveConfig } from 'prettier';
import { packageVersion } from '../../src/service/context.js';
import { openApiDocument } from '../../src/http/openapi/document.js';

const path = join(__dirname, '..', '..', 'src', 'client', 'schema.ts');

describe("the client's types", () => {
  it('are what `npm run generate:client` makes of the document', async () => {
    const { default: openapiTypescript, astToString, COMMENT_HEADER } = await import('openapi-typescript');
    const document = JSON.stringify(openApiDocument(packageVersion()));
    const source = COMMENT_HEADER + astToString(await openapiTypescript(document));
    const generated = await format(source, { ...(await resolveConfig(path)), filepath: path });
    expect(generated).to.equal(readFileSync(path, 'utf8'));
  });
});

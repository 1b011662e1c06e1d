import type { Command } from 'commander';
import { openApiDocument } from '../http/openapi/document.js';
import { packageVersion } from '../service/context.js';

export function addOpenApi(program: Command): void {
  program
    .command('openapi')
    .description('print the OpenAPI document of the REST API')
    .action(() => console.log(JSON.stringify(openApiDocument(packageVersion()), null, 2)));
}

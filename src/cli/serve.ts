import type { Command } from 'commander';
import { serve } from '../service/serve.js';

export function addServe(program: Command): void {
  program
    .command('serve')
    .description('run the service; settings come from the environment (see docs/operations.md)')
    .action(serve);
}

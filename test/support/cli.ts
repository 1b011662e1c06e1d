/**
 * The command line in this very process: what a command prints and its exit code, without the seconds that a new one
 * takes.
 */
import { runCli } from '../../src/cli/program.js';

export interface CommandResult {
  status: number;
  stdout: string;
  stderr: string;
}

/**
 * The environment holds these variables and none other of the service's but VERBATIM_AUTO_MODEL=off. One command at a
 * time.
 */
export function runCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  return captured(() => runCli(['node', 'verbatim', ...words]), environment);
}

/** What `run` prints, and the exit code that it resolves to. */
export async function captured(
  run: () => Promise<number>,
  environment: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const output = { stdout: '', stderr: '' };
  const restore = [
    // Nothing of the tests reaches for a network.
    withEnvironment({ VERBATIM_AUTO_MODEL: 'off', ...environment }),
    withExitCode(),
    withoutTerminal(),
    recorded('stdout', output),
    recorded('stderr', output),
  ];
  try {
    const status = await run();
    return { status, ...output };
  } finally {
    for (const undo of restore.reverse()) undo();
  }
}

const OWN = /^(VERBATIM_|HF_)/;

function withEnvironment(environment: Readonly<Record<string, string>>): () => void {
  const set = (values: Readonly<Record<string, string | undefined>>): void => {
    for (const name of Object.keys(process.env)) if (OWN.test(name)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, values);
  };
  const before = Object.fromEntries(Object.entries(process.env).filter(([name]) => OWN.test(name)));
  set(environment);
  return () => set(before);
}

function withExitCode(): () => void {
  const before = process.exitCode;
  process.exitCode = undefined;
  return () => (process.exitCode = before);
}

/** Whoever runs the tests may sit at one. */
function withoutTerminal(): () => void {
  const streams = [process.stdin, process.stdout, process.stderr];
  const before = streams.map(({ isTTY }) => isTTY);
  for (const stream of streams) stream.isTTY = false;
  return () => {
    for (const [index, stream] of streams.entries()) stream.isTTY = before[index] ?? false;
  };
}

function recorded(name: 'stdout' | 'stderr', output: Record<'stdout' | 'stderr', string>): () => void {
  const stream = process[name];
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is put back onto the same stream
  const before = stream.write;
  stream.write = (chunk: string | Uint8Array, ...more: unknown[]) => {
    output[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const written = more.at(-1);
    if (typeof written === 'function') process.nextTick(written);
    return true;
  };
  return () => (stream.write = before);
}

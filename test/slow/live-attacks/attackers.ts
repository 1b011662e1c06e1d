/** The clients of an attack. Their process has the lowest priority, so that other clients do not wait for it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AttackedServer } from './attacked-servers.js';

export class Attackers {
  private constructor(
    private readonly child: ChildProcess,
    readonly admitted: number,
    readonly refused: number,
  ) {}

  /** `attack`: its place in ATTACKS. Resolves when all have their connections or were refused. */
  static async start({ url, keys }: AttackedServer, attack: number): Promise<Attackers> {
    const words = ['--require', 'tsx/cjs', join(__dirname, 'attack.ts'), url, String(attack), ...keys];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    for await (const line of createInterface(child.stdout)) {
      const [admitted, refused] = line.split(' ').map(Number);
      if (admitted !== undefined && refused !== undefined) return new Attackers(child, admitted, refused);
    }
    throw new Error('The attackers ended before they attacked.');
  }

  async stop(): Promise<void> {
    const closed = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await closed;
  }
}

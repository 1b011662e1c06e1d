/** Clients that send the bundled clip one after the other, and what they were answered and charged. */
import { readFileSync } from 'node:fs';
import { CHECK_CLIP } from '../../../src/service/model-check.js';
import { transcribe } from '../../support/requests.js';
import type { Served } from '../../support/served.js';

const CLIENTS = 8;
const CLIP = readFileSync(CHECK_CLIP.path);

export class ClientLoad {
  /** By the demonstration model, which says so, and by another one. */
  readonly answers = { demonstration: 0, other: 0 };
  readonly failures: string[] = [];
  /** As the answers say. */
  credits = 0;
  #isOver = false;
  readonly #clients: Promise<unknown>;

  constructor(
    private readonly served: Served,
    private readonly key: string,
  ) {
    this.#clients = Promise.all(Array.from({ length: CLIENTS }, () => this.#client()));
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#clients;
  }

  async #client(): Promise<void> {
    while (!this.#isOver) await this.#ask();
  }

  async #ask(): Promise<void> {
    const answer = await transcribe(this.served, {
      key: this.key,
      parts: [
        ['language', CHECK_CLIP.language],
        ['audio', CLIP],
      ],
    });
    if (answer.status !== 200) {
      this.failures.push(answer.text);
      return;
    }
    const { warnings = [], text, credits_used: credits } = answer.body as unknown as Transcribed;
    this.credits += credits;
    if (!warnings.some(({ code }) => code === 'demonstration_model')) this.answers.other += 1;
    else if (text === CHECK_CLIP.text) this.answers.demonstration += 1;
    else this.failures.push(text);
  }
}

interface Transcribed {
  text: string;
  credits_used: number;
  warnings?: { code: string }[];
}

import { randomUUID } from 'node:crypto';

export interface Payload {
  audio: Buffer;
  credits: number;
}

/** One thing a client wants done, over as many attempts and server lives as it takes. */
export interface Task {
  readonly rawKey: string;
  readonly payload: Payload;
  /** Without one an attempt without an answer is never repeated. */
  readonly idempotencyKey: string | null;
  /** The X-Request-Id of each attempt; what usage rows are found by. */
  readonly attempts: string[];
  /** The body of its 200. */
  answer: string | null;
  replayed: boolean;
}

/** Clients that keep a server busy until it dies under them. */
export class Load {
  readonly jobs: Task[] = [];
  answered = 0;
  #unanswered: Task[] = [];
  #running = true;

  constructor(
    private readonly rawKeys: readonly string[],
    private readonly payloads: readonly Payload[],
  ) {}

  get unanswered(): number {
    return this.#unanswered.length;
  }

  /** Sends new jobs, and again those that the last life of the server left open; resolves when all clients gave up. */
  async run(url: string, clients: number): Promise<void> {
    this.#running = true;
    await Promise.all(Array.from({ length: clients }, () => this.#client(url)));
  }

  stop(): void {
    this.#running = false;
  }

  /** Only what is still open; for a server that will not be killed. */
  async finish(url: string): Promise<void> {
    for (const job of this.#unanswered.splice(0)) await this.#attempt(job, url);
  }

  async #client(url: string): Promise<void> {
    while (this.#running) {
      const job = this.#unanswered.shift() ?? this.#newJob();
      try {
        await this.#attempt(job, url);
      } catch {
        if (job.idempotencyKey !== null) this.#unanswered.push(job);
        return; // the server is gone
      }
    }
  }

  #newJob(): Task {
    const n = this.jobs.length;
    const rawKey = this.rawKeys[n % this.rawKeys.length];
    const payload = this.payloads[n % this.payloads.length];
    if (rawKey === undefined || payload === undefined) throw new Error('No keys or no payloads.');
    const idempotencyKey = n % 3 === 0 ? null : randomUUID();
    const job: Task = { rawKey, payload, idempotencyKey, attempts: [], answer: null, replayed: false };
    this.jobs.push(job);
    return job;
  }

  async #attempt(job: Task, url: string): Promise<void> {
    const requestId = randomUUID();
    job.attempts.push(requestId);
    const form = new FormData();
    form.append('audio', new Blob([job.payload.audio]), 'audio');
    const response = await fetch(`${url}/api/v1/transcribe`, {
      method: 'POST',
      body: form,
      headers: {
        Authorization: `Bearer ${job.rawKey}`,
        'X-Request-Id': requestId,
        ...(job.idempotencyKey === null ? {} : { 'Idempotency-Key': job.idempotencyKey }),
      },
    });
    const body = await response.text();
    if (response.status !== 200) throw new Error(`${response.status} ${body}`);
    job.answer = body;
    job.replayed = response.headers.get('Idempotency-Replayed') === 'true';
    this.answered += 1;
  }
}

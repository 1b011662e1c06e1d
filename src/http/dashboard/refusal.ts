import type { OutgoingHttpHeaders } from 'node:http';

/** What a browser gets instead of the page that it asked for. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(
    readonly status: number,
    message: string,
    readonly headers: OutgoingHttpHeaders = {},
  ) {
    super(message);
  }
}

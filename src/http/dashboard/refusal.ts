import type { OutgoingHttpHeaders } from 'node:http';

/** The page that a browser gets in place of the requested one. */
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

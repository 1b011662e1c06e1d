/** What the rows of fields share. */
import { FakeDiarizer } from '../../support/fake-diarizer.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { fakeTranslator } from '../../support/fake-translator.js';
import { call, transcribe, type Answer, type Part } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';

/** By "METHOD path field": sends the field with different values, and looks at how the outcomes differ. */
export type FieldRows = Readonly<Record<string, () => Promise<void>>>;

export const AUDIO: Part = ['audio', fakeAudio(3)];

/** One server and one customer for all rows. */
export class FieldFixture {
  server!: TestServer;
  customer!: Customer;
  readonly diarizer = new FakeDiarizer();

  async open(): Promise<void> {
    // Into German alone: what other languages are refused with has rows, too.
    const translator = fakeTranslator(
      (text) => text,
      (_, to) => to === 'de',
    );
    const settings = { webhookAllow: ['127.0.0.1'] };
    this.server = await TestServer.start({ diarizer: this.diarizer, translator, settings });
    this.customer = await this.server.customer(1000);
  }

  send(...parts: Part[]): Promise<Answer> {
    return transcribe(this.server, { key: this.customer.key, parts });
  }

  manage(path: string, init: { method?: string; body?: string } = {}): Promise<Answer> {
    return call(this.server, path, {
      ...init,
      headers: { ...bearer(this.customer.managementKey), 'content-type': 'application/json' },
    });
  }
}

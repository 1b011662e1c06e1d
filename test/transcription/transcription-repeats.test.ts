/** The stored answer that a repeated request gets, in every form in which one was stored. */
import { existsSync, writeFileSync } from 'node:fs';
import { Database } from '../../src/ledger/sqlite/driver.js';
import { expect } from 'chai';
import { transcriptionBody } from '../../src/transcription/transcription-body.js';
import type { TranscriptionOptions } from '../../src/transcription/options.js';
import { fakeAudio } from '../support/fake-engine.js';
import type { FakeDiarizer } from '../support/fake-diarizer.js';
import { fakeTranslator } from '../support/fake-translator.js';
import { answerOf, PLAIN, resultOfWork, TRANSLATED, useTranscriptionFixture } from './transcription-fixture.js';

describe('TranscriptionService: a repeat', () => {
  const fixture = useTranscriptionFixture();

  it('gives a repeat the same answer, and removes its audio too', async () => {
    const odd = 'Hello \ud800, "World"\u0000 \u2028 \u{1f600}';
    fixture.translator = fakeTranslator(() => odd);
    const first = await answerOf(fixture.run({ options: TRANSLATED }));
    const again = await answerOf(fixture.run({ options: TRANSLATED }));
    if (!('result' in first && 'result' in again)) return expect.fail('no results');
    expect(again.replayed).to.equal(true);
    expect(existsSync(fixture.audioPath())).to.equal(false);
    expect(again.result).to.deep.equal(first.result);
    expect(JSON.stringify(transcriptionBody(again.result))).to.equal(JSON.stringify(transcriptionBody(first.result)));
    expect(await fixture.balance()).to.equal(6);
  });

  it('gives a repeat the times that the first one had', async () => {
    const timed = fixture.request({ options: { ...TRANSLATED, timestamps: 'word', translateTo: 'en' } });
    const first = await resultOfWork(fixture.service().run(timed));
    writeFileSync(fixture.audioPath(), fakeAudio(90));
    const again = await resultOfWork(fixture.service().run(timed));
    expect(first.words).to.have.length(2);
    expect(first.translation?.segments).to.deep.equal(first.segments);
    expect(again).to.deep.equal(first);
  });

  it('knows what was stored before there were times', async () => {
    const first = await resultOfWork(fixture.run({ options: TRANSLATED }));
    const database = new Database(fixture.databasePath());
    database.exec(
      `UPDATE idempotency_records SET result = json_remove(json_set(result, '$.version', 1), '$.segments', '$.words',
         '$.model', '$.described', '$.translation.segments', '$.translation.described')`,
    );
    const { result } = database.prepare('SELECT result FROM idempotency_records').get() as { result: string };
    expect(Object.keys(JSON.parse(result) as object)).to.have.members([
      ...['version', 'id', 'durationSeconds', 'language', 'text', 'translation', 'warnings'],
    ]);
    database.close();
    const again = await resultOfWork(fixture.run({ options: TRANSLATED }));
    expect(again).to.deep.equal({ ...first, model: null });
  });

  it('reads what was stored before segments recorded how they were decoded', async () => {
    const timed = fixture.request({ options: { ...TRANSLATED, timestamps: 'word', translateTo: 'en' } });
    const first = await resultOfWork(fixture.service().run(timed));
    const database = new Database(fixture.databasePath());
    database.exec(
      `UPDATE idempotency_records SET result = json_remove(json_set(result, '$.version', 2), '$.model', '$.described',
         '$.translation.described')`,
    );
    database.close();
    const again = await resultOfWork(fixture.service().run(timed));
    expect(again).to.deep.equal({ ...first, model: null });
  });

  it('gives a repeat the segments as they were decoded', async () => {
    const verbose = fixture.request({ options: { ...TRANSLATED, describe: true, translateTo: 'en' } });
    const first = await resultOfWork(fixture.service().run(verbose));
    writeFileSync(fixture.audioPath(), fakeAudio(90));
    const again = await resultOfWork(fixture.service().run(verbose));
    expect(first.described?.[0]?.tokens).to.have.length.above(2);
    expect(first.translation?.described).to.deep.equal(first.described);
    expect(again).to.deep.equal(first);
  });

  it('refuses a stored result of a form it does not know, uncharged', async () => {
    await answerOf(fixture.run());
    const database = new Database(fixture.databasePath());
    database.exec(`UPDATE idempotency_records SET result = json_set(result, '$.version', 6)`);
    database.close();
    expect((await fixture.failure(fixture.run())).message).to.contain('cannot read');
    expect(await fixture.balance()).to.equal(8);
  });

  const diarize: TranscriptionOptions = { ...PLAIN, diarize: true };
  const fake = (): FakeDiarizer => fixture.diarizer as FakeDiarizer;

  it('gives a repeat the speakers that the first one had, of the translation, too', async () => {
    const asked = fixture.request({ options: { ...diarize, translateTo: 'en' } });
    const first = await answerOf(fixture.service().run(asked));
    writeFileSync(fixture.audioPath(), fakeAudio(90));
    const again = await answerOf(fixture.service().run(asked));
    if (!('result' in first && 'result' in again)) return expect.fail('no results');
    expect(first.result.translation?.segments?.[0]).to.include({ speaker: 'S1' });
    expect(again.replayed).to.equal(true);
    expect(again.result).to.deep.equal(first.result);
    expect(fake().asked).to.have.length(1);
  });

  it('knows what was stored before there were speakers', async () => {
    const timed = fixture.request({
      options: { ...TRANSLATED, timestamps: 'word', describe: true, translateTo: 'en' },
    });
    const first = await resultOfWork(fixture.service().run(timed));
    const database = new Database(fixture.databasePath());
    const row = database.prepare('SELECT result FROM idempotency_records').get() as { result: string };
    const stored = JSON.parse(row.result) as Record<string, unknown> & {
      translation: Record<string, unknown>;
    };
    const without = (texts: unknown): unknown => (texts as unknown[][]).map((text) => text.slice(0, -1));
    const older = {
      ...stored,
      model: undefined,
      ...{ version: 3, segments: without(stored['segments']), words: without(stored['words']) },
      translation: { ...stored.translation, segments: without(stored.translation['segments']) },
    };
    database.prepare('UPDATE idempotency_records SET result = ?').run(JSON.stringify(older));
    database.close();
    const again = await resultOfWork(fixture.service().run(timed));
    expect(again).to.deep.equal({ ...first, model: null });
  });

  it('gives a repeat the model that made the answer, and knows what was stored before it was noted', async () => {
    const first = await resultOfWork(fixture.run({ options: { ...TRANSLATED, diarize: true } }));
    expect(first.model).to.equal('fake');
    expect(await resultOfWork(fixture.run({ options: { ...TRANSLATED, diarize: true } }))).to.deep.equal(first);
    const database = new Database(fixture.databasePath());
    database.exec(`UPDATE idempotency_records SET result = json_remove(json_set(result, '$.version', 4), '$.model')`);
    database.close();
    const again = await resultOfWork(fixture.run({ options: { ...TRANSLATED, diarize: true } }));
    expect(again).to.deep.equal({ ...first, model: null });
  });
});

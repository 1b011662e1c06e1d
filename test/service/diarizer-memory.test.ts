import { expect } from 'chai';
import { createDiarizer } from '../../src/service/diarizer.js';
import type { Speakers } from '../../src/service/speaker-engine.js';

describe('Speaker models in the memory that all models share', () => {
  it('have room made for them where their process has to be started, and not where it is there', async () => {
    let pid: number | null = null;
    const deeds: string[] = [];
    const engine = {
      stats: () => ({ pending: 0, pid, lastUsed: 0 }),
      diarize: () => {
        deeds.push('diarize');
        pid = 1;
        return Promise.resolve([]);
      },
      close: () => Promise.resolve(),
    };
    const speakers = { engine, segmentation: {}, embedding: { languages: 'any' }, bytes: 7 } as unknown as Speakers;
    const memory = {
      makeRoom: (bytes: number) => {
        deeds.push(`room for ${bytes}`);
        return Promise.resolve(false);
      },
    };
    const diarizer = createDiarizer(speakers, { memory });
    if ('unavailable' in diarizer) throw new Error(diarizer.unavailable);
    const file = { path: 'a', accountId: 'a', durationSeconds: 3 };
    await diarizer.diarize(file);
    await diarizer.diarize(file);
    expect(deeds).to.deep.equal(['room for 7', 'diarize', 'diarize']);
  });
});

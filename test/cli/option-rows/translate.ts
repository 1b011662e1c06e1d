import { expect } from 'chai';
import { inWorkplace, type OptionRows } from './rows.js';

const TEXT = ['translate', '--from', 'en', '--to', 'de', 'Good morning.'];

export const translateRows: OptionRows = {
  'translate --from': () =>
    inWorkplace(async (place) => {
      const text = (from: string): string[] => ['translate', '--from', from, '--to', 'en', 'Guten Morgen.'];
      expect(await place.printed(text('ger'))).to.match(/^Good morning/);
      expect(await place.printed(text('en'))).to.equal('Guten Morgen.\n');
      expect((await place.run(text('ja'))).stderr).to.contain('No installed model translates "ja" into "en"');
    }),
  'translate --to': () =>
    inWorkplace(async (place) => {
      expect(await place.printed(TEXT)).to.match(/^Guten Morgen/);
      const spanish = ['translate', '--from', 'en', '--to', 'spa', 'Good morning.'];
      expect(await place.printed(spanish)).to.match(/^Buenos/);
    }),
  'translate --json': () =>
    inWorkplace(async (place) => {
      const text = (await place.printed(TEXT)).trimEnd();
      const models = ['translate-verbatim-small'];
      expect(await place.json([...TEXT, '--json'])).to.deep.equal({ from: 'en', to: 'de', models, text });
    }),
};

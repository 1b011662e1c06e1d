/** The tutorial, block by block; the pages on kept transcripts and on live sessions. */
import { expect } from 'chai';
import { blocksOf, type Block } from '../support/documents/blocks.js';
import { PageRunner } from '../support/documents/page-runner.js';

const runnable = (document: string): Block[] => blocksOf(document).filter(({ notRun }) => notRun === null);

describe('The documents, as a reader follows them', function () {
  this.timeout(120_000);
  let runner: PageRunner;

  beforeEach(async () => {
    runner = await PageRunner.start();
  });
  afterEach(() => runner.stop());

  it('the tutorial runs from its first block to its last, and shows what it prints', async () => {
    let printed = '';
    let shown = 0;
    for (const block of runnable('docs/tutorial.md')) {
      if (block.language === 'js') runner.save(block);
      if (block.language === 'sh') printed = await runner.shell(block.code);
      if (block.language !== 'text') continue;
      expect(printed.trim(), `line ${block.line}`).to.equal(block.code.trim());
      shown += 1;
    }
    expect(shown).to.equal(4);
    expect(JSON.parse(printed.slice(printed.indexOf('{')))).to.not.equal(null);
  });

  it('the page on kept transcripts keeps, corrects and shares one', async () => {
    const [keep, correct, share, ...others] = runnable('docs/library.md').filter(({ language }) => language === 'sh');
    expect(others).to.deep.equal([]);
    const kept = JSON.parse(await runner.shell(keep!.code)) as { id: string };
    runner.set({ ID: kept.id });
    const corrected = JSON.parse(await runner.shell(correct!.code)) as { version: number; text: string };
    expect(corrected).to.deep.include({ version: 2, text: 'Good morning.' });
    const shared = JSON.parse(await runner.shell(share!.code)) as { url: string };
    expect(shared.url).to.contain('/share/');
  });

  it("the page on live sessions has a program that prints what is spoken, with Deepgram's client", async () => {
    const [program] = runnable('docs/live.md').filter(({ language }) => language === 'js');
    runner.save(program!);
    expect(await runner.shell(`node ${program!.file}`)).to.contain('llevamos aquí siete minutos');
  });
});

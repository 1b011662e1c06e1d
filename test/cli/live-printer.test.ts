import { expect } from 'chai';
import { ResultPrinter } from '../../src/cli/live-printer.js';
import type { FinalResult, PartialResult, SessionEvent } from '../../src/live/events.js';

const STRETCH = {
  utterance: 0,
  startSeconds: 0.5,
  endSeconds: 1.25,
  segments: [],
  language: 'en',
  continuesWord: false,
};

function partial(text: string): PartialResult {
  return { type: 'partial', ...STRETCH, text };
}

function final(text: string): FinalResult {
  return { type: 'final', ...STRETCH, text, endedBy: 'silence' };
}

function printed(flags: { json?: boolean }, ...events: SessionEvent[]): string {
  let output = '';
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (text: unknown) => {
    output += String(text);
    return true;
  };
  try {
    const printer = new ResultPrinter(flags);
    for (const event of events) printer.print(event);
  } finally {
    process.stdout.write = write;
  }
  return output;
}

function linesOf(...events: SessionEvent[]): unknown[] {
  return printed({ json: true }, ...events)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { type, text } = JSON.parse(line) as SessionEvent & { text: string };
      return [type, text];
    });
}

describe('Printed results of a live session', () => {
  it('take a partial line of JSON back by a final one without text', () => {
    expect(linesOf(partial('Hel'), final(''))).to.deep.equal([
      ['partial', 'Hel'],
      ['final', ''],
    ]);
  });

  it('leave out what has no text', () => {
    expect(linesOf(final(''), partial(''), final(''))).to.deep.equal([]);
    expect(linesOf(partial('Hel'), final('Hello.'), final(''))).to.deep.equal([
      ['partial', 'Hel'],
      ['final', 'Hello.'],
    ]);
  });

  it('overwrite partial text on a terminal', () => {
    const cleared = '\r\u001b[K';
    expect(printed({}, partial('Hel'), partial('Hello'), final('Hello.'))).to.equal(
      `Hel${cleared}Hello${cleared}Hello.\n`,
    );
    expect(printed({}, partial('Hel'), final(''), final('Hello.'))).to.equal(`Hel${cleared}Hello.\n`);
  });
});

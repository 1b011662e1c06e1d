import { expect } from 'chai';
import { ResultPrinter, type PrinterOptions } from '../../src/cli/live-printer.js';
import type { Segment } from '../../src/engine/binding.js';
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

function printed(options: PrinterOptions, ...events: SessionEvent[]): string {
  let output = '';
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (text: unknown) => {
    output += String(text);
    return true;
  };
  try {
    const printer = new ResultPrinter(options);
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

  it('are a line for each speaker of a result', () => {
    const word = (text: string, startSeconds: number) => ({
      text,
      startSeconds,
      endSeconds: startSeconds + 0.2,
      probability: 1,
    });
    const words = [word(' How', 0.5), word(' so?', 0.7), word(' Why', 1), word(' not?', 1.2)];
    const turns = [
      { startSeconds: 0.4, endSeconds: 0.9, speaker: 1 },
      { startSeconds: 0.9, endSeconds: 1.5, speaker: 0 },
    ];
    const segments = [{ startSeconds: 0.5, endSeconds: 1.4, text: ' How so? Why not?', words }] as unknown as Segment[];
    const spoken = { ...final('How so? Why not?'), segments, turns };
    expect(printed({}, spoken)).to.equal('S2: How so?\nS1: Why not?\n');
    const lines = printed({ json: true }, spoken).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).to.deep.equal([
      { type: 'final', start: 0.5, end: 0.9, language: 'en', speaker: 'S2', text: 'How so?' },
      { type: 'final', start: 1, end: 1.4, language: 'en', speaker: 'S1', text: 'Why not?' },
    ]);
    // Nobody knows who spoke.
    expect(printed({}, { ...spoken, turns: [] })).to.equal('How so? Why not?\n');
  });

  it('are translations where those are asked for, and both in JSON', () => {
    const times = { utterance: 0, startSeconds: 0.5, endSeconds: 1.25 };
    const translated = { type: 'translated', ...times, text: 'Hallo.', language: 'de', spokenLanguage: 'en' } as const;
    const events = [partial('Hel'), final('Hello.'), translated];
    expect(printed({ translates: true }, ...events)).to.equal('Hel\r\u001b[KHallo.\n');
    const lines = printed({ json: true, translates: true }, ...events)
      .trim()
      .split('\n');
    expect(lines.map((line) => (JSON.parse(line) as SessionEvent).type)).to.deep.equal([
      'partial',
      'final',
      'translated',
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

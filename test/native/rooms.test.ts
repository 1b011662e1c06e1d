import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOMS, wrongIncludes } from './rooms.js';

describe("native's rooms", () => {
  it('include only what they may', () => {
    expect(wrongIncludes(join(__dirname, '..', '..'))).to.deep.equal([]);
  });

  it('form no circle: each room may include from those before it alone', () => {
    const order = Object.keys(ROOMS);
    for (const [room, allowed] of Object.entries(ROOMS)) {
      if (room.startsWith('engine')) {
        for (const other of allowed)
          expect(order.indexOf(other), `${room} -> ${other}`).to.be.below(order.indexOf(room));
      } else expect(allowed, room).not.to.contain('test');
    }
  });

  describe('in a made-up tree', () => {
    let root: string;

    beforeEach(() => {
      root = mkdtempSync(join(tmpdir(), 'verbatim-rooms-'));
      write('engine/error.h');
      write('engine/audio/reader.h');
      write('engine/audio/decoding/decoder.h');
      write('engine/speech/slot.h');
      write('testing/noise.h');
      write('test/support/aborts.h');
      write('bench/measure.h');
      write('addon/handle.h');
    });
    afterEach(() => rmSync(root, { recursive: true }));

    function write(file: string, ...includes: string[]): void {
      const path = join(root, 'native', file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, ['#pragma once', ...includes.map((include) => `#include ${include}`)].join('\n'));
    }

    it('right includes pass', () => {
      write(
        'engine/audio/reader.cc',
        '<vector>',
        '<soxr.h>',
        '"error.h"',
        '"audio/reader.h"',
        '"audio/decoding/decoder.h"',
      );
      write(
        'test/audio/reader_test.cc',
        '<doctest/doctest.h>',
        '"audio/reader.h"',
        '"support/aborts.h"',
        '"measure.h"',
      );
      write('bench/audio_bench.cc', '"audio/reader.h"', '"measure.h"', '"testing/noise.h"');
      write('addon/slot_wrap.cc', '<napi.h>', '"handle.h"', '"speech/slot.h"');
      expect(wrongIncludes(root)).to.deep.equal([]);
    });

    const wrong: [what: string, file: string, include: string, says: string][] = [
      ['a room above', 'engine/audio/decoding/wrong.cc', '"audio/reader.h"', 'lies in engine/audio'],
      ['a room beside', 'engine/audio/wrong.cc', '"speech/slot.h"', 'lies in engine/speech'],
      ['the addon from the engine', 'engine/speech/wrong.cc', '"addon/handle.h"', 'lies in addon'],
      ['a way upwards', 'engine/audio/wrong.cc', '"../speech/slot.h"', 'leads upwards'],
      ['a file that is not there', 'engine/wrong.cc', '"none.h"', 'is no file of native/'],
      ['a folder without a row', 'engine/speakers/wrong.cc', '"error.h"', 'has no row'],
      ['Node in the engine', 'engine/speech/wrong.h', '<node_api.h>', 'is known to addon alone'],
      ['Node in the tests', 'test/speech/wrong.cc', '<napi.h>', 'is known to addon alone'],
      ["another room's library", 'engine/speech/wrong.cc', '<sndfile.h>', 'is known to engine/audio/decoding'],
      ['tests from a benchmark', 'bench/wrong.cc', '"support/aborts.h"', 'lies in test'],
      ['tests from a fuzzer', 'fuzz/wrong.cc', '"test/support/aborts.h"', 'lies in test'],
      ['tests from the fixture writers', 'testing/wrong.cc', '"support/aborts.h"', 'lies in test'],
      ['a benchmark from the addon', 'addon/wrong.cc', '"measure.h"', 'lies in bench'],
    ];
    for (const [what, file, include, says] of wrong) {
      it(`refuses ${what}`, () => {
        write(file, include);
        const [line, ...more] = wrongIncludes(root);
        expect(line).to.contain(`native/${file}: `).and.contain(says);
        expect(more).to.deep.equal([]);
      });
    }
  });
});

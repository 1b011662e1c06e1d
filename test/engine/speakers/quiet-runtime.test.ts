import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { packageRoot } from '../../../src/package-root.js';

const LOADED = `
  const { readdirSync, readlinkSync } = require('node:fs');
  const { loadOnnxModel } = require(process.argv[1]);
  const targets = () => readdirSync('/proc/self/fd').map((fd) => {
    try { return readlinkSync('/proc/self/fd/' + fd); } catch { return ''; }
  });
  loadOnnxModel(process.argv[2], 1).then(() => {
    const libraries = require('node:fs').readFileSync('/proc/self/maps', 'utf8');
    console.log(JSON.stringify({ open: targets(), isLoaded: libraries.includes('libonnxruntime.so') }));
  });
`;

describe('The runtime of ONNX', () => {
  it('sends no telemetry: it keeps no files of its own, which telemetry would need', async () => {
    const model = join(packageRoot, 'models', 'bundled', 'speaker-segmentation-verbatim.onnx');
    const main = join(packageRoot, 'src', 'engine', 'speakers', 'onnx-model.ts');
    const options = { cwd: packageRoot, env: { PATH: process.env['PATH'] } };
    const words = ['--import', 'tsx', '--eval', LOADED, main, model];
    const { stdout } = await promisify(execFile)(process.execPath, words, options);
    const { open, isLoaded } = JSON.parse(stdout) as { open: string[]; isLoaded: boolean };
    expect(isLoaded).to.equal(true);
    const own = open.filter((target) => /onnxruntime|mat-debug|Microsoft/.test(target));
    expect(own).to.deep.equal([]);
  });
});

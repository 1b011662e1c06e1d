/** What the build says of a oneDNN that it finds and cannot use: CMake, with headers that only have a version. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';

describe('the build of a oneDNN that it cannot use', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-onednn-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  /** Why the addon has no accelerator; empty where it has one. */
  function reason(version: string | null, runtime = 'OMP', setting = 'AUTO', processor = 'x86_64'): string {
    const headers = join(directory, 'include', 'oneapi', 'dnnl');
    mkdirSync(headers, { recursive: true });
    const [major, minor] = version?.split('.') ?? [];
    writeFileSync(
      join(headers, 'dnnl_version.h'),
      `#define DNNL_VERSION_MAJOR ${major}\n#define DNNL_VERSION_MINOR ${minor}\n`,
    );
    writeFileSync(join(headers, 'dnnl_config.h'), `#define DNNL_CPU_RUNTIME DNNL_RUNTIME_${runtime}\n`);
    writeFileSync(
      join(directory, 'CMakeLists.txt'),
      [
        'cmake_minimum_required(VERSION 3.22)',
        'project(finds LANGUAGES CXX)',
        `set(CMAKE_SYSTEM_PROCESSOR ${processor})`,
        `set(VERBATIM_ONEDNN ${setting})`,
        `set(VERBATIM_ONEDNN_INCLUDE "${version === null ? 'VERBATIM_ONEDNN_INCLUDE-NOTFOUND' : join(directory, 'include')}")`,
        'set(VERBATIM_ONEDNN_LIBRARY dnnl)',
        version === null ? 'set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)\nset(CMAKE_FIND_ROOT_PATH /nowhere)' : '',
        `include("${join(packageRoot, 'native', 'cmake', 'VerbatimOnednn.cmake')}")`,
        'if(VERBATIM_ONEDNN_ENABLED)\n  set(VERBATIM_WITHOUT_ONEDNN "")\nendif()',
        'file(WRITE "${CMAKE_BINARY_DIR}/reason" "${VERBATIM_WITHOUT_ONEDNN}")',
      ].join('\n'),
    );
    const build = join(directory, 'build');
    execFileSync('cmake', ['-S', directory, '-B', build], { stdio: 'pipe' });
    return readFileSync(join(build, 'reason'), 'utf8');
  }

  it('takes 2 from 2.6 on, and 3', () => {
    expect(reason('2.6')).to.equal('');
    expect(reason('2.7')).to.equal('');
    expect(reason('3.0')).to.equal('');
    expect(reason('3.7')).to.equal('');
  });

  it('names the version that it does not take', () => {
    expect(reason('4.0')).to.equal('oneDNN 4.0 is not supported, only 2.6 and later, below 4');
    expect(reason('2.5')).to.equal('oneDNN 2.5 is not supported, only 2.6 and later, below 4');
  });

  it('says what else is wrong with it', () => {
    expect(reason('2.6', 'TBB')).to.equal(
      'OpenMP, or a oneDNN that was built for it, was missing when the addon was built',
    );
    expect(reason('2.6', 'OMP', 'OFF')).to.equal('the addon was built with VERBATIM_ONEDNN=OFF');
    expect(reason(null)).to.equal('the addon was built without oneDNN (libdnnl-dev)');
  });

  it('misses nothing on ARM, where it takes one only by name', () => {
    expect(reason(null, 'OMP', 'AUTO', 'aarch64')).to.equal('');
    expect(reason('3.7', 'OMP', 'OFF', 'aarch64')).to.equal('the addon was built with VERBATIM_ONEDNN=OFF');
    expect(() => reason(null, 'OMP', 'ON', 'aarch64')).to.throw();
  });
});

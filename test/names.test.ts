/** A name means one thing: what is exported under src/, bench/ and test/ is declared in one file. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import * as ts from 'typescript';

const ROOT = join(__dirname, '..');

/** The client is a package of its own, and calls the service's answers what the document calls them. */
const ALSO_IN_CLIENT = [
  'AcceptedJob',
  'AdminAccount',
  'AdminAccountList',
  'AdminUsage',
  'CreditGrant',
  'DeletedAccount',
  'Job',
  'JobList',
  'CreatedKey',
  'ErrorCode',
  'KeyList',
  'Me',
  'RevokedKey',
  'TranscriptList',
  'KeptTranscript',
  'DeletedTranscript',
  'CreatedShare',
  'ShareList',
  'RevokedShare',
  'Transcription',
  'Usage',
];
const GENERATED = 'src/client/schema.ts';

function exportedNames(source: ts.SourceFile): string[] {
  return source.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    const declared = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.map(({ name }) => name)
      : [(statement as ts.DeclarationStatement).name];
    return declared.flatMap((name) => (name && ts.isIdentifier(name) ? [name.text] : []));
  });
}

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : sources(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

/** Names that several files export -> those files. */
function namesOfSeveral(root: string): Record<string, string[]> {
  const files = new Map<string, string[]>();
  for (const path of ['src', 'bench', 'test'].flatMap((room) => sources(join(root, room)))) {
    const file = relative(root, path);
    if (file === GENERATED) continue;
    const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
    for (const name of new Set(exportedNames(source))) files.set(name, [...(files.get(name) ?? []), file]);
  }
  return Object.fromEntries([...files].filter(([, { length }]) => length > 1));
}

describe('Exported names', function () {
  this.timeout(60_000);

  it('are declared once, but for those that the client shares with the service', () => {
    const several = Object.entries(namesOfSeveral(ROOT)).map(([name, files]) => {
      const shared = ALSO_IN_CLIENT.includes(name);
      return [name, shared ? files.filter((file) => !file.startsWith('src/client/')) : files] as const;
    });
    expect(several.filter(([, files]) => files.length > 1)).to.deep.equal([]);
    expect(several.map(([name]) => name)).to.have.members(ALSO_IN_CLIENT);
  });

  describe('in a made-up tree', () => {
    let root: string;

    beforeEach(() => {
      root = mkdtempSync(join(tmpdir(), 'verbatim-names-'));
      write('src/engine/clock.ts', 'export interface Clock {}\nexport const systemClock = 1;');
      write('bench/clock.ts', 'interface Clock {}\nexport { systemClock } from "../src/engine/clock.js";');
      write('test/clock.ts', 'export type Time = number;\nexport const Time = 1;');
    });
    afterEach(() => rmSync(root, { recursive: true }));

    function write(file: string, text: string): void {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }

    it('may be a type and a value of one file, be a file’s own elsewhere, and be handed on', () => {
      expect(namesOfSeveral(root)).to.deep.equal({});
    });

    for (const declared of ['interface Clock {}', 'type Clock = 1', 'class Clock {}', 'function Clock() {}']) {
      it(`are found in two files: ${declared}`, () => {
        write('src/ledger/time.ts', `export ${declared};`);
        expect(namesOfSeveral(root)).to.deep.equal({ Clock: ['src/engine/clock.ts', 'src/ledger/time.ts'] });
      });
    }

    it('are found among constants', () => {
      write('test/other.ts', 'export const systemClock = 2;');
      expect(namesOfSeveral(root)).to.have.all.keys('systemClock');
    });
  });
});

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import * as ts from 'typescript';
import { ofThisContract } from '../../src/engine/binding.js';
import { CONTRACT } from '../../src/engine/binding/contract.js';
import { binding } from './support.js';

const ENGINE = join(__dirname, '..', '..', 'src', 'engine');

/** Of what the contract's number stands for: change both together. */
const FINGERPRINT = { contract: 7, declarations: '725fbff9dc1beba4' };

/** Of the code, comments and white space aside. */
function fingerprint(): string {
  const folder = join(ENGINE, 'binding');
  const files = readdirSync(folder).filter((file) => file !== 'contract.ts');
  const paths = [join(ENGINE, 'binding.ts'), ...files.sort().map((file) => join(folder, file))];
  const hash = createHash('sha256');
  for (const path of paths) for (const word of declaredIn(path)) hash.update(`${word}\n`);
  return hash.digest('hex').slice(0, 16);
}

/** Types and interfaces, word by word, in the order of their names. */
function declaredIn(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const declared = source.statements.filter(
    (statement) => ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement),
  );
  const printer = ts.createPrinter({ removeComments: true });
  return declared.map((one) => printer.printNode(ts.EmitHint.Unspecified, one, source)).sort();
}

describe('The contract with the addon', () => {
  it('is the one that the addon was built for', () => {
    expect(binding.build.contract).to.equal(CONTRACT);
  });

  it('has a number that is raised when it changes', () => {
    const declarations = fingerprint();
    const advice = `raise CONTRACT, run "npm run build:native", and write { contract: ${CONTRACT + 1}, declarations: '${declarations}' } here`;
    expect({ contract: CONTRACT, declarations }, advice).to.deep.equal(FINGERPRINT);
  });

  it('is named, with what to do, where the addon is of another one', () => {
    const of = (contract: number | undefined) => ({
      build: { ...binding.build, contract: contract as number },
    });
    const refusal = (contract: number | undefined) => () => ofThisContract(of(contract), '/a/verbatim.node');
    expect(ofThisContract(binding, '')).to.equal(binding);
    expect(refusal(CONTRACT - 1)).to.throw(
      `The native addon at /a/verbatim.node was built for another version of this code (contract ${CONTRACT - 1}; wanted: ${CONTRACT}). Run "npm run build:native".`,
    );
    expect(refusal(undefined)).to.throw('(contract none; ');
  });
});

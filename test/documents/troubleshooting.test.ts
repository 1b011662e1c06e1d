/** docs/troubleshooting.md has every error code and every line that a start can end with, and none that is gone. */
import { expect } from 'chai';
import { ERROR_CODES } from '../../src/errors.js';
import { ERROR_TABLE } from '../../src/http/errors/error-table.js';
import { documentText } from '../support/documents/blocks.js';
import { loggedProblems } from '../support/documents/logged-problems.js';
import { startFailures } from '../support/documents/start-failures.js';

const page = documentText('docs/troubleshooting.md');
const section = (from: string, to: string): string => page.slice(page.indexOf(from), page.indexOf(to));
/** The cells of each row, without the head of its table. */
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => /^\| +`/.test(line) && !line.startsWith('| `msg`'))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

/** Of a line as it is documented: what such a line begins with. */
function pattern(documented: string): RegExp {
  const parts = documented.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.+?')}`, 's');
}

describe('docs/troubleshooting.md', () => {
  const lines = rowsOf(section('## The start fails', '## A request is refused')).map(([cell = '']) =>
    cell.slice(1, -1),
  );
  const failures = startFailures();

  it('has each error code with its status, what causes it and what to do', () => {
    const rows = rowsOf(section('## A request is refused', '## The log warns'));
    expect(rows.map(([code = '']) => code.slice(1, -1))).to.have.members(ERROR_CODES);
    for (const [code = '', status, cause = '', remedy = ''] of rows) {
      expect(Number(status), code).to.equal(ERROR_TABLE[code.slice(1, -1) as keyof typeof ERROR_TABLE].status);
      expect([cause, remedy], code).not.to.include('');
    }
  });

  it('has each line that a start can end with', () => {
    expect(failures).to.have.length.above(30);
    const patterns = lines.map(pattern);
    const missing = failures.filter(({ message }) => !patterns.some((one) => one.test(message)));
    expect(missing).to.deep.equal([]);
  });

  it('has each warning and error of the log, and none that is gone', () => {
    const documented = rowsOf(section('## The log warns', '## It runs, but')).map(([cell = '']) =>
      cell.replaceAll(/^`+ ?| ?`+$/g, ''),
    );
    expect(loggedProblems()).to.have.members(documented);
  });

  it('has no line that no start ends with', () => {
    const stale = lines.filter((line) => !failures.some(({ message }) => pattern(line).test(message)));
    expect(stale).to.deep.equal([]);
  });
});

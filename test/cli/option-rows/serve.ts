import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../bench/processes/free-port.js';
import { Served, workplace } from '../../support/served.js';
import { inWorkplace, type OptionRows } from './rows.js';

/** Starts a server with these flags against variables that say otherwise. */
async function whileServing(
  flags: readonly string[],
  environment: Record<string, string>,
  look: (served: Served) => Promise<void> | void,
): Promise<void> {
  const served = Served.start({ VERBATIM_DEVICE: 'cpu', ...environment }, workplace(), flags);
  try {
    await look(await served.listening());
  } finally {
    await served.stop();
  }
}

/** What a start says that does not succeed, beside exit code 1. */
async function failure(...flags: string[]): Promise<string> {
  const served = Served.start({ VERBATIM_DEVICE: 'cpu' }, workplace(), flags);
  try {
    expect(await served.ended()).to.equal(1);
    return served.stderr;
  } finally {
    await served.stop();
  }
}

export const serveRows: OptionRows = {
  'serve --host': async () => {
    await whileServing(['--host', '127.0.0.2'], { VERBATIM_HOST: '127.0.0.1' }, ({ url }) => {
      expect(url).to.match(/^http:\/\/127\.0\.0\.2:\d+$/);
    });
    expect(await failure('--host', '192.0.2.1')).to.contain(
      'verbatim: --host is "192.0.2.1", which is not an address of this machine',
    );
  },
  'serve --port': () =>
    inWorkplace(async (place) => {
      const port = await freePort();
      await whileServing(['--port', String(port)], { VERBATIM_PORT: 'wrong' }, async (served) => {
        expect(served.port).to.equal(port);
        expect((await fetch(`${served.url}/healthz`)).status).to.equal(200);
        expect(await failure('--port', String(port))).to.contain(
          `Another program already listens on port ${port} of 127.0.0.1. Stop it, or set another in --port `,
        );
      });
      expect(await place.refusal(['serve', '--port', '70000'])).to.equal(
        'verbatim: --port is "70000"; allowed: an integer from 0 to 65535.\n',
      );
    }),
  'serve --model': async () => {
    for (const name of ['verbatim-small', 'bundled'])
      await whileServing(['--model', name], { VERBATIM_MODEL: 'bsae' }, async ({ url }) => {
        expect(await (await fetch(`${url}/readyz`)).text()).to.contain('"verbatim-small"');
      });
    expect(await failure('--model', 'bsae')).to.contain('There is no model "bsae"');
  },
  'serve --data-dir': () =>
    inWorkplace(async (place) => {
      const here = join(place.directory, 'here');
      const there = join(place.directory, 'there');
      await whileServing(['--data-dir', here], { VERBATIM_DATA_DIR: there }, async (served) => {
        await served.key();
        expect([existsSync(join(here, 'verbatim.db')), existsSync(there)]).to.deep.equal([true, false]);
      });
      expect(await failure('--data-dir', '/proc/verbatim/data'))
        .to.contain('cannot be created')
        .and.contain('--data-dir holds database, uploads and jobs');
    }),
};

import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { call, type Answer, type CallInit } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';

/** What the tests of the error table share: a server, and a customer whom no refusal may cost anything. */
export interface ErrorTable {
  server: TestServer;
  customer: Customer;
  /** With the management key. */
  manage: (path: string, init: CallInit) => Promise<Answer>;
  get: (path: string) => Promise<Answer>;
}

const CREDITS = 100;

export const audio = fakeAudio(3);

/** Within a describe(): hands the table over before its tests, and checks after each that nothing is left of it. */
export function useErrorTable(give: (table: ErrorTable) => void): void {
  let server: TestServer;
  let customer: Customer;

  before(async () => {
    server = await TestServer.start({
      settings: { maxInFlight: 2, maxAudioSeconds: 600, maxFileBytes: 1_000_000 },
    });
    customer = await server.customer(CREDITS);
    give({
      ...{ server, customer },
      manage: (path, init) =>
        call(server, path, { ...init, headers: { ...bearer(customer.managementKey), ...init.headers } }),
      get: (path) => call(server, path, { headers: bearer(customer.key) }),
    });
  });
  after(() => server.dispose());
  afterEach('nothing is charged, held, left on disk or running', async () => {
    expect(await server.balance(customer)).to.equal(CREDITS);
    expect(await server.ledger.audit()).to.deep.equal([]);
    expect((await server.ledger.history.report(customer.account.id, 1)).totalMinutes).to.equal(0);
    expect(server.uploads()).to.deep.equal([]);
    expect(server.engine).to.include({ openFiles: 0, admitted: 0, running: 0 });
  });
}

export function expectError(answer: Answer, status: number, code: string, param: string | null = null): void {
  expect(answer.status, answer.text).to.equal(status);
  expect(Object.keys(answer.body)).to.deep.equal(['error']);
  expect(Object.keys(answer.error!)).to.deep.equal(['code', 'message', 'param', 'request_id']);
  expect(answer.error).to.include({ code, param, request_id: answer.headers.get('x-request-id')! });
  expect(answer.error!.message).to.match(/^\S.*\.$/);
  expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
  expect(answer.headers.get('www-authenticate')).to.equal(status === 401 ? 'Bearer' : null);
  const retry = status === 429 || status === 503;
  expect(answer.headers.get('retry-after') ?? '').to.match(retry ? /^[1-9]\d*$/ : /^$/);
}

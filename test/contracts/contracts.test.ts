import { loadContracts } from '@lapel/schemas/contracts/contracts';
import { DomainError } from '@lapel/schemas/contracts/errors';
import { hasCheckDigit } from '@lapel/schemas/contracts/keywords';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { runProgram } from '../run-program.ts';

const contracts = loadContracts();

t.test('a valid body comes back unchanged', async (t) => {
  const body = [{ ssid: 'home', security: 'WPA2', password: 'long enough' }];
  t.equal(contracts.check('rest/wifi-settings', body, 'body'), body);
});

t.test('an invalid body is refused with its faults', async (t) => {
  t.throws(() => contracts.check('rest/activation-request', { clientId: 1 }, 'body'), {
    code: 'REQUEST_INVALID',
    details: [{ loc: ['body', 'clientId'], type: 'string_type' }],
  });
});

t.test('nothing in a body is converted: a number in quotes is a string', async (t) => {
  t.equal(contracts.accepts('mqtt/ack', { transactionId: '1', status: 'failed' }), false);
});

t.test('Wi-Fi passwords follow the security of their network', async (t) => {
  const accepted = (security: string, password?: string): boolean =>
    contracts.accepts('rest/wifi-settings', [{ ssid: 's', security, ...(password === undefined ? {} : { password }) }]);
  t.equal(accepted('OPEN'), true);
  for (const security of ['WPA2', 'WPA3', 'WPA2_WPA3']) {
    const lengths = [0, 7, 8, 63, 64].map((length) => accepted(security, 'x'.repeat(length)));
    t.same(lengths, [false, false, true, true, false], security);
    t.equal(accepted(security), false, `${security} without password`);
  }
  t.same(
    [4, 5, 6, 12, 13, 14].map((length) => accepted('WEP', 'x'.repeat(length))),
    [false, true, false, false, true, false],
  );
  t.equal(accepted('WEP'), false);
});

t.test('an ssid has at most 32 bytes, not characters', async (t) => {
  const accepted = (ssid: string): boolean => contracts.accepts('rest/wifi-settings', [{ ssid, security: 'OPEN' }]);
  t.same(
    [32, 33].map((length) => accepted('x'.repeat(length))),
    [true, false],
  );
  t.same(
    [10, 11].map((length) => accepted('無'.repeat(length))),
    [true, false],
  );
});

t.test('queries: integers are read from text, defaults are filled in, the unknown is left out', async (t) => {
  t.same(contracts.checkQuery('common/paging-query', ''), { offset: 0, limit: 100 });
  t.same(contracts.checkQuery('common/paging-query', 'limit=7&colour=red'), { offset: 0, limit: 7 });
  t.same(contracts.checkQuery('rest/transaction-list-query', 'status=queued&offset=3'), {
    status: 'queued',
    offset: 3,
    limit: 100,
  });
});

t.test('queries: every wrong value is named', async (t) => {
  const types = (query: string): string[] => {
    try {
      contracts.checkQuery('rest/transaction-list-query', query);
      return [];
    } catch (error) {
      return (error as DomainError).details.map(({ loc, type }) => `${loc.join('.')} ${type}`);
    }
  };
  t.same(types('offset=-1&limit=0'), ['query.offset greater_than_equal', 'query.limit greater_than_equal']);
  t.same(types('limit=1001'), ['query.limit less_than_equal']);
  t.same(types('limit=1.5'), ['query.limit int_type']);
  t.same(types('limit='), ['query.limit int_type']);
  t.same(types('limit=1e3'), ['query.limit int_type']);
  t.same(types('limit=1&limit=2'), ['query.limit int_type'], 'given twice');
  t.same(types('limit=99999999999999999999'), ['query.limit int_type']);
  t.same(types('status=gone&operation='), ['query.status enum', 'query.operation enum']);
});

t.test('Luhn: of ten last digits exactly one is right', async (t) => {
  const right = Array.from({ length: 10 }, (_, digit) => `49015420323751${digit}`).filter(hasCheckDigit);
  t.same(right, ['490154203237518']);
});

t.test('every schema obeys JSON Schema 2020-12', async (t) => {
  // The service does not check this, because it would take most of its start.
  const ajv = new Ajv2020({ strict: false, logger: false });
  for (const [name, document] of contracts.documents) {
    t.ok(ajv.validateSchema(document), `${name} ${ajv.errorsText(ajv.errors)}`);
  }
  t.notOk(ajv.validateSchema({ ...contracts.documents.get('common/name'), type: 'text' }), 'no type of JSON');
});

t.test('refused values throw a DomainError, never another error', async (t) => {
  const odd = [undefined, null, 0, '', 'x', [], {}, [[]], { __proto__: null }, JSON.parse('{"__proto__":1}')];
  for (const name of contracts.documents.keys()) {
    for (const value of odd) {
      try {
        contracts.check(name, value, 'body');
      } catch (error) {
        t.ok(error instanceof DomainError, `${name}: ${String(error)}`);
      }
    }
  }
});

t.test('the generated types match the schemas', async (t) => {
  const { status, stderr } = await runProgram(process.execPath, ['tools/scripts/generate-types.ts', '--check']);
  t.equal(status, 0, stderr);
});

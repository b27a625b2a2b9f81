import t from 'tap';
import { startWorld } from '../world.ts';
import { faultsOf } from './operations.ts';

const MAC = 'AA:BB:CC:DD:EE:0f';
const BLUETOOTH = { type: 'bluetooth' };

t.test('language and connectivity', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api } = tenant;
  const device = await world.activatedDevice(tenant);

  // biome-ignore format: a table is read by its rows
  const rows: [method: string, below: string, json: unknown, operation: string, parameters: object, result?: object][] = [
    ['PUT', 'settings/lang', { lang: 'zh-cmn-Hans-CN' }, 'setLanguage', { lang: 'zh-cmn-Hans-CN' }],
    ['PUT', 'settings/lang', { lang: 'EN-gb' }, 'setLanguage', { lang: 'EN-gb' }],
    ['GET', 'connectivity/state?type=bluetooth', undefined, 'getConnectivityState', BLUETOOTH, { ...BLUETOOTH, enabled: false }],
    ['PUT', 'connectivity/state', { ...BLUETOOTH, enabled: true }, 'setConnectivityState', { ...BLUETOOTH, enabled: true }, { ...BLUETOOTH, enabled: true }],
    ['GET', 'connectivity/list?type=bluetooth', undefined, 'listConnectivity', BLUETOOTH, { ...BLUETOOTH, devices: [{ name: null, macAddress: MAC, paired: false, connected: false }] }],
    ['POST', 'bluetooth/devices', { macAddress: MAC }, 'pairBluetooth', { macAddress: MAC }, { name: 'headset', macAddress: MAC }],
  ];

  t.test(
    'each is a transaction: the command carries the parameters, webhook and record carry the result',
    async (t) => {
      for (const [method, below, json, operation, parameters, result] of rows) {
        const answer = await api.request(method, `${device.path}/${below}`, { ...(json !== undefined && { json }) });
        t.equal(answer.status, 201, operation);
        const { transactionId } = answer.body;
        t.equal(
          answer.headers['location'],
          `${world.service.addresses.http}${device.path}/transactions/${transactionId}`,
        );
        const command = await device.link.command();
        t.same([command.transactionId, command.operation], [transactionId, operation]);
        t.same(command.parameters, parameters, 'word for word');
        device.link.puback(command.packet);
        await device.link.ack({ transactionId, status: 'succeeded', ...(result && { result }) });
        const { type, data } = await tenant.event();
        t.equal(type, 'transaction.succeeded');
        const expected = { operation, result: result ?? null, status: 'succeeded' };
        t.match(data.transaction, expected);
        t.notOk('warning' in data.transaction, 'a finished transaction has nothing to warn of');
        t.match((await api.get(`${device.path}/transactions/${transactionId}`)).body, { ...expected, warning: null });
        t.match((await api.get(`${device.path}/transactions?operation=${operation}&limit=1`)).body, {
          transactions: [expected],
        });
      }
    },
  );

  t.test('wrong input is answered 400 with every fault, and makes no transaction', async (t) => {
    // biome-ignore format: a table is read by its rows
    const faulty: [method: string, below: string, json: unknown, ...faults: string[]][] = [
      ['PUT', 'settings/lang', {}, 'body.lang missing'],
      ['PUT', 'settings/lang', { lang: 5, x: 1 }, 'body.lang string_type', 'body.x extra_forbidden'],
      ['PUT', 'settings/lang', { lang: null }, 'body.lang string_type'],
      ['PUT', 'settings/lang', { lang: '' }, 'body.lang string_pattern_mismatch'],
      ['PUT', 'settings/lang', { lang: 'ja_JP' }, 'body.lang string_pattern_mismatch'],
      ['PUT', 'settings/lang', { lang: 'x-12345678-12345678-12345678-1234567' }, 'body.lang string_too_long'],
      ['PUT', 'settings/lang', { lang: 'x'.repeat(500_000) }, 'body.lang string_too_long'],
      ['GET', 'connectivity/state', undefined, 'query.type missing'],
      ['GET', 'connectivity/state?type=wifi', undefined, 'query.type enum'],
      ['GET', 'connectivity/state?type=mobile', undefined, 'query.type enum'],
      ['GET', 'connectivity/state?type=Bluetooth', undefined, 'query.type enum'],
      ['GET', 'connectivity/state?type=', undefined, 'query.type enum'],
      ['GET', 'connectivity/state?type=bluetooth&type=bluetooth', undefined, 'query.type extra_forbidden'],
      ['GET', 'connectivity/list', undefined, 'query.type missing'],
      ['GET', 'connectivity/list?type=wifi', undefined, 'query.type enum'],
      ['GET', 'connectivity/list?type=mobile', undefined, 'query.type enum'],
      ['PUT', 'connectivity/state', {}, 'body.enabled missing', 'body.type missing'],
      ['PUT', 'connectivity/state', { type: 'wifi', enabled: true }, 'body.type enum'],
      ['PUT', 'connectivity/state', { type: 'mobile', enabled: 1 }, 'body.enabled bool_type', 'body.type enum'],
      ['POST', 'bluetooth/devices', {}, 'body.macAddress missing'],
      ['POST', 'bluetooth/devices', { macAddress: 'AA-BB-CC-DD-EE-FF' }, 'body.macAddress string_pattern_mismatch'],
      ['POST', 'bluetooth/devices', { macAddress: `${MAC}\n` }, 'body.macAddress string_pattern_mismatch'],
      ['POST', 'bluetooth/devices', { macAddress: `${MAC}:00` }, 'body.macAddress string_pattern_mismatch'],
      ['POST', 'bluetooth/devices', [], 'body dict_type'],
    ];
    const before = (await api.get(`${device.path}/transactions?limit=1`)).body.total;
    for (const [method, below, json, ...faults] of faulty) {
      const answer = await api.request(method, `${device.path}/${below}`, { ...(json !== undefined && { json }) });
      const title = `${method} ${below} ${JSON.stringify(json)?.slice(0, 60)}`;
      t.match(answer, { status: 400, body: { reason: 'invalid request.' } }, title);
      t.same(faultsOf(answer), faults, title);
    }
    const { body } = await api.put(`${device.path}/settings/lang`, { json: { lang: 'ja_JP' } });
    t.equal(body.details[0].msg, 'String should be a well-formed language tag (BCP 47)');
    t.equal((await api.get(`${device.path}/transactions?limit=1`)).body.total, before);
  });

  t.test('each GET asks the device again, even with an Idempotency-Key', async (t) => {
    const ask = () =>
      api.get(`${device.path}/connectivity/state?type=bluetooth`, { headers: { 'idempotency-key': 'same' } });
    const [first, second] = [await ask(), await ask()];
    t.same([first.status, second.status], [201, 201]);
    t.not(second.body.transactionId, first.body.transactionId);
  });
});

import { parseExact } from '@lapel/schemas/base/exact-json';
import t from 'tap';
import { checkMessage } from '../contract/checked-messages.ts';
import type { RawDevice } from '../raw-device.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { startWorld, type Tenant, transactionIdOf, WIFI } from '../world.ts';

/** The message on the errors topic about a message, after its PUBACK. */
async function toldOf(link: RawDevice, kind: string, payload: string | Buffer) {
  link.publish(kind, payload);
  const packet = await link.next('publish');
  const told = checkMessage(packet.topic, packet.payload) as {
    reason: string;
    details: { loc: string[]; msg: string; type: string }[];
    transactionId?: number;
    eventId?: string;
  };
  link.puback(packet);
  await link.next('puback');
  return told;
}

const PARTLY = 'parts of the message were left out.';
const REPAIRED = 'the message was repaired.';

/** Replaces `~` and `^` by bytes that are not UTF-8; that of `^` also begins each U+FFFD. */
const bytes = (text: string): Buffer =>
  Buffer.from(Buffer.from(text).map((byte) => (byte === 0x7e ? 0xff : byte === 0x5e ? 0xef : byte)));

t.test('one byte that is not JSON does not cost an acknowledgement, and its repair is told with the id', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link, path } = await world.activatedDevice(tenant);
  const cases: [rest: string, result: object | null, told: RegExp][] = [
    ['"result":{"a":1}}\0', { a: 1 }, /Text behind the message was left out|U\+0000/],
    ['"result":{"a":1}}\0garbage of the buffer', { a: 1 }, /U\+0000/],
    ['"result":{"a":1}}~~~', { a: 1 }, /not UTF-8/],
    ['"result":{"a":NaN,"b":-Infinity,"c":-nan(ind),"d":1.#INF,"e":+5,"f":007}}', null, /'NaN' is not a JSON value/],
    ['"result":{"a":"x\u0001\n\ty","b":"\0"}}', { a: 'x\u0001\n\ty', b: '\ufffd' }, /U\+0001 was escaped, position/],
    ['"result":{"ssid":"caf~"}}', { ssid: 'caf\ufffd' }, /not UTF-8.* byte \d+/],
    ['"result":{"a":1}}^', { a: 1 }, /not UTF-8.*, the first is byte \d+/],
    ['"result":{"a":"\ufffd^"}}', { a: '\ufffd\ufffd' }, /not UTF-8.*, the first is byte \d+/],
    [String.raw`"result":{"path":"C:\Users\x\u12"}}`, { path: String.raw`C:\Users\x\u12` }, /Backslash/],
    ['"result":{"a":[1,2,],"b":,}}', { a: [1, 2], b: null }, /comma too many/],
    ['"result":{"a":1}}}', { a: 1 }, /behind the message/],
    ['"result":{"a":1~2,"b":[true] x,"c":"d"}}', { a: null, b: [true], c: 'd' }, /'x' behind a value was left out/],
    ['\u00a0"result":{"a":1}}', { a: 1 }, /U\+00a0/],
    ['"progress":NaN}', null, /NaN/],
  ];
  for (const [rest, result, msg] of cases) {
    const transactionId = transactionIdOf(await tenant.api.put(`${path}/settings/wifi`, { json: WIFI }));
    link.puback((await link.command()).packet);
    const told = await toldOf(link, 'acks', bytes(`{"transactionId":${transactionId},"status":"succeeded",${rest}`));
    // A progress of null is no number, so this member is left out as well.
    t.match(told, { reason: rest.includes('progress') ? PARTLY : REPAIRED, transactionId }, rest);
    t.match(told.details.map((each) => each.msg).join('\n'), msg, rest);
    const record = (await tenant.event()).data.transaction;
    t.match(record, { transactionId, status: 'succeeded' }, rest);
    const wanted = rest.includes('nan(ind)') ? { a: null, b: null, c: null, d: null, e: null, f: null } : result;
    t.same((record as { result: object }).result, wanted, rest);
    t.same((await tenant.api.get(`${path}/transactions/${transactionId}`)).body.result, wanted, rest);
  }
  const { values } = await world.service.metrics.mqttMended.get();
  t.equal(values.find(({ labels }) => labels.topic === 'acks')?.value, cases.length);
  t.match((await world.service.metrics.mqttLeftOut.get()).values, [{ labels: { topic: 'acks' }, value: 1 }]);
});

t.test('the first byte that is not UTF-8 is told by its place', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const link = await world.connect(device);
  const cases: [payload: string, byte: number][] = [
    ['{"lang":"ja"}^', 13],
    ['{"lang":"\ufffd^"}', 12],
    ['{"lang":"\u00fc\ufffd~^"}', 14],
  ];
  for (const [payload, byte] of cases)
    t.match((await toldOf(link, 'status', bytes(payload))).details[0]?.msg, new RegExp(`, the first is byte ${byte}$`));
});

t.test('one byte costs neither an event nor a status', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link, path } = await world.activatedDevice(tenant);
  const event = (data: string) =>
    `{"eventId":"e","type":"custom.sos","occurredAt":"2026-11-20T09:30:00Z","data":${data}}`;
  t.match(await toldOf(link, 'events', bytes(event('{"name":"~\u0002","t":NaN}'))), { reason: REPAIRED, eventId: 'e' });
  t.match((await tenant.event()).data, { name: '\ufffd\u0002', t: null, eventId: 'e' });
  const status = bytes('{"lang":"ja","firmwareVersion":"1~","battery":{"level":NaN,"charging":true}}\0');
  const told = await toldOf(link, 'status', status);
  t.ok(told.details.some(({ loc }) => loc.join('.') === 'body.battery.level'));
  t.match((await tenant.api.get(`${path}/status`)).body, { lang: 'ja', firmwareVersion: '1\ufffd', battery: null });
});

t.test(
  'where a message cannot be read, the errors topic names the id that stands in its text, and the position',
  async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const { link } = await world.activatedDevice(tenant);
    const cases: [kind: string, payload: string, identity: object, position: RegExp][] = [
      ['acks', '{"transactionId":7,"status":"succ', { transactionId: 7 }, /position \d+/],
      ['acks', '{"status":"succeeded" "transactionId" : 8}', { transactionId: 8 }, /position 22/],
      ['acks', '{transactionId: 9}', { transactionId: 9 }, /position 1\b/],
      ['acks', '{"transactionId":"10","status":"succeeded"}', { transactionId: 10 }, /integer/],
      ['events', '{"eventId":"e-1","type":"custom.a', { eventId: 'e-1' }, /position \d+/],
      ['requests', "{'requestId': 'r-1', 'type'", { requestId: 'r-1' }, /position 1\b/],
      ['acks', '', {}, /position 0/],
    ];
    for (const [kind, payload, identity, position] of cases) {
      const {
        topic: _,
        reason,
        details,
        ...rest
      } = (await toldOf(link, kind, payload)) as unknown as {
        topic: string;
        reason: string;
        details: { msg: string }[];
      };
      t.not(reason, PARTLY);
      t.same(rest, identity, payload);
      t.match(details.map(({ msg }) => msg).join('\n'), position, payload);
    }
  },
);

/** The bytes of the next webhook of the type. */
async function sent(tenant: Tenant, t: Parameters<typeof createTestReceiver>[0], setting: string) {
  const sink = await createTestReceiver(t);
  await tenant.api.patch(tenant.path, { json: { [setting]: sink.url } });
  return sink;
}

const NUMBERS =
  '{"id":12345678901234567890,"iccid":[89811000000000000001],"ns":1764320400123456789,"big":1e400,"zero":-0,"one":1.0,"ten":1E1,"tiny":0.00000001,"pi":3.14159265358979323846,"plain":42.5}';

t.test('numbers are passed on as they came, byte for byte, in webhooks and in records', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link, path } = await world.activatedDevice(tenant);
  const sink = await sent(tenant, t, 'deviceEvent');
  link.publish('events', `{"eventId":"e","type":"custom.n","occurredAt":"2026-11-20T09:30:00Z","data":${NUMBERS}}`);
  t.match((await sink.next()).body.toString(), NUMBERS.slice(0, -1));

  const transactionId = transactionIdOf(await tenant.api.put(`${path}/settings/wifi`, { json: WIFI }));
  link.puback((await link.command()).packet);
  link.publish('acks', `{"transactionId":${transactionId},"status":"succeeded","progress":1e2,"result":${NUMBERS}}`);
  t.match((await sink.next()).body.toString(), `"result":${NUMBERS}`);
  const text = async (url: string) => (await tenant.api.get(url, { responseType: 'text' } as object)).body as unknown;
  const asText = async (url: string) => {
    const body = await text(url);
    return typeof body === 'string' ? body : JSON.stringify(body);
  };
  t.match(await asText(`${path}/transactions/${transactionId}`), '12345678901234567');
  const rows = await (await world.raw()).all<{ result: string }>(
    'SELECT result FROM transactions WHERE result IS NOT NULL',
  );
  t.equal(rows.at(-1)?.result, NUMBERS);
});

t.test('a text is read with its numbers as they were written', async (t) => {
  t.equal(JSON.stringify(parseExact(NUMBERS)), NUMBERS);
  const texts = [
    '-0',
    '[1e5,-0]',
    '{"a":{"b":[0.10]}}',
    '1',
    '"12345678901234567890"',
    '[-1.50e-7]',
    '{"__proto__":{"a":-0}}',
  ];
  for (const text of texts) t.equal(JSON.stringify(parseExact(text)), text);
});

t.test('an event whose time cannot be read is taken with its time of arrival', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link } = await world.activatedDevice(tenant);
  const times: [sent: string | undefined, shown: unknown][] = [
    [undefined, undefined],
    ['null', null],
    ['"2026-11-20T09:30:00+0900"', '2026-11-20T09:30:00+0900'],
    ['"2026-11-20T09:30:60Z"', '2026-11-20T09:30:60Z'],
    ['"2026-11-20T24:00:00Z"', '2026-11-20T24:00:00Z'],
    ['"2026-02-30T09:30:00Z"', '2026-02-30T09:30:00Z'],
    ['"1969-12-31T19:00:00-05:00"', '1969-12-31T19:00:00-05:00'],
    ['"1970-01-01T00:00:00+09:00"', '1970-01-01T00:00:00+09:00'],
    ['"2200-01-01T00:00:00Z"', '2200-01-01T00:00:00Z'],
    ['"+275760-09-13T00:00:00Z"', '+275760-09-13T00:00:00Z'],
    ['1764320400123', 1764320400123],
    ['true', true],
    ['""', ''],
    ['{"s":1}', '{"s":1}'],
    [`"${'x'.repeat(300)}"`, 'x'.repeat(256)],
  ];
  for (const [index, [written, shown]] of times.entries()) {
    const time = written === undefined ? '' : `"occurredAt":${written},`;
    const message = `{"eventId":"e-${index}","type":"custom.sos",${time}"data":{"button":"side"}}`;
    const told = await toldOf(link, 'events', message);
    t.match(told, { reason: PARTLY, eventId: `e-${index}` }, message);
    t.match(told.details, [{ loc: ['body', 'occurredAt'] }], message);
    const { timestamp, data } = await tenant.event();
    t.equal(Date.parse(timestamp), Math.floor(world.clock.now() / 1000), message);
    t.match(data, { button: 'side', eventId: `e-${index}` }, message);
    t.same((data as { deviceTime?: unknown }).deviceTime, shown, message);
  }
});

t.test('a hostile text is repaired in linear time', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link } = await world.activatedDevice(tenant);
  const longest = 250_000;
  const texts = [
    '"\u0001',
    '\u0001',
    'NaN,',
    '[',
    '{"a":',
    '\\"',
    ',',
    '"transactionId" ',
    '1',
    '12e',
    '"\\u',
    '\ufffd x',
  ];
  for (const text of texts) {
    const told = await toldOf(link, 'acks', text.repeat(longest / Buffer.byteLength(text)));
    t.ok(told.details.length <= 101);
  }
});

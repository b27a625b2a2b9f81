import t from 'tap';
import { startWorld } from '../world.ts';
import { faultsOf } from './operations.ts';

const TOO_SHORT = 'body.0.password string_too_short';
const TOO_LONG = 'body.0.password string_too_long';
const MISSING = 'body.0.password missing';
const MISMATCH = 'body.0.password string_pattern_mismatch';

// Passwords by their length, and the fault of each; null: good.
// biome-ignore format: a table is read by its rows
const PASSWORDS: [security: string, length: number | 'none', fault: string | null][] = [
  ['OPEN', 'none', null], ['OPEN', 0, null], ['OPEN', 8, null],
  ['WEP', 'none', MISSING], ['WEP', 0, MISMATCH], ['WEP', 4, MISMATCH], ['WEP', 5, null], ['WEP', 6, MISMATCH],
  ['WEP', 12, MISMATCH], ['WEP', 13, null], ['WEP', 14, MISMATCH], ['WEP', 64, MISMATCH],
  ...['WPA2', 'WPA3', 'WPA2_WPA3'].flatMap((wpa): [string, number | 'none', string | null][] => [
    [wpa, 'none', MISSING], [wpa, 0, TOO_SHORT], [wpa, 7, TOO_SHORT], [wpa, 8, null], [wpa, 63, null], [wpa, 64, TOO_LONG],
  ]),
];

const apn = (fields: object) => [{ name: 'carrier', apn: 'internet', ...fields }];

// biome-ignore format: a table is read by its rows
const APNS: [title: string, body: unknown, faults: string[]][] = [
  ['mcc of 2 digits', apn({ mcc: '44' }), ['body.0.mcc string_pattern_mismatch']],
  ['mcc of 4 digits', apn({ mcc: '4400' }), ['body.0.mcc string_pattern_mismatch']],
  ['mcc with letters', apn({ mcc: '44a' }), ['body.0.mcc string_pattern_mismatch']],
  ['mcc with a line end', apn({ mcc: '440\n' }), ['body.0.mcc string_pattern_mismatch']],
  ['mcc as a number', apn({ mcc: 440 }), ['body.0.mcc string_type']],
  ['mnc of 1 digit', apn({ mnc: '1' }), ['body.0.mnc string_pattern_mismatch']],
  ['mnc of 4 digits', apn({ mnc: '1000' }), ['body.0.mnc string_pattern_mismatch']],
  ['no name and no apn', [{}], ['body.0.apn missing', 'body.0.name missing']],
  ['null for a name', [{ name: null, apn: 'x' }], ['body.0.name string_type']],
  ['a port as a number', apn({ port: 8080 }), ['body.0.port string_type']],
  ['authType as text', apn({ authType: '3' }), ['body.0.authType int_type']],
  ['bearer with a fraction', apn({ bearer: 1.5 }), ['body.0.bearer int_type']],
  ['bearerBitmask as a truth', apn({ bearerBitmask: true }), ['body.0.bearerBitmask int_type']],
  ['an unknown field', apn({ mvno: 'x' }), ['body.0.mvno extra_forbidden']],
  ['an entry that is no object', ['x', null, []], ['body.0 dict_type', 'body.1 dict_type', 'body.2 dict_type']],
  ['one entry without its list', apn({})[0], ['body list_type']],
  ['null', null, ['body list_type']],
  ['33 entries', Array.from({ length: 33 }, () => apn({})[0]), ['body less_than_equal']],
];

const wifi = (fields: object) => [{ ssid: 'office', password: 'correct horse', security: 'WPA2', ...fields }];

// biome-ignore format: a table is read by its rows
const NETWORKS: [title: string, body: unknown, faults: string[]][] = [
  ['no ssid', [{ security: 'OPEN' }], ['body.0.ssid missing']],
  ['no security', [{ ssid: 'x' }], ['body.0.security missing']],
  ['an empty ssid', wifi({ ssid: '' }), ['body.0.ssid string_too_short']],
  ['33 bytes in 33 characters', wifi({ ssid: 'x'.repeat(33) }), ['body.0.ssid string_too_long']],
  ['33 bytes in 11 characters', wifi({ ssid: '語'.repeat(11) }), ['body.0.ssid string_too_long']],
  ['a security of no kind', wifi({ security: 'WPA' }), ['body.0.security enum']],
  ['a security in small letters', wifi({ security: 'wpa2' }), ['body.0.security enum']],
  ['a password as a number', wifi({ password: 12345678 }), ['body.0.password string_type']],
  ['null for a password', [{ ssid: 'x', password: null, security: 'OPEN' }], ['body.0.password string_type']],
  ['an unknown field', wifi({ hidden: true }), ['body.0.hidden extra_forbidden']],
  ['several entries, each with its faults', [...wifi({}), { ssid: 1 }, { security: 'WEP' }],
    ['body.1.security missing', 'body.1.ssid string_type', 'body.2.password missing', 'body.2.ssid missing']],
  ['an object', {}, ['body list_type']],
];

// biome-ignore format: a table is read by its rows
const GOOD: [title: string, kind: 'apn' | 'wifi', body: unknown[]][] = [
  ['no entry at all', 'apn', []],
  ['32 entries', 'apn', Array.from({ length: 32 }, () => apn({})[0])],
  ['every field', 'apn', [{
    name: 'n', apn: 'a', proxy: 'p', port: '1', user: 'u', server: 's', password: 'w', mmsc: 'm', mcc: '440', mnc: '010',
    mmsproxy: 'x', mmsport: '2', type: 'default', protocol: 'IPV6', carrierEnabled: 'true', roamingProtocol: 'IP',
    mvnoType: 'spn', mvnoMatchData: 'd', authType: 3, bearer: 0, bearerBitmask: -1,
  }]],
  ['mnc of 2 digits', 'apn', apn({ mcc: '001', mnc: '01' })],
  ['no network at all', 'wifi', []],
  ['32 bytes in 8 characters', 'wifi', wifi({ ssid: '🦊'.repeat(8) })],
  ['a quote in a name', 'wifi', wifi({ ssid: 'a"b' })],
];

t.test('ops 10 and 11', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const put = (kind: string, json: unknown) => tenant.api.put(`${device.path}/settings/${kind}`, { json });

  t.test('op 11 judges a password by the security', async (t) => {
    for (const [security, length, fault] of PASSWORDS) {
      const password = length === 'none' ? {} : { password: 'p'.repeat(length) };
      const answer = await put('wifi', [{ ssid: 'x', security, ...password }]);
      const title = `${security} with ${length === 'none' ? 'no password' : `${length} characters`}`;
      if (fault === null) t.equal(answer.status, 201, title);
      else t.same(answer.status === 400 && faultsOf(answer), [fault], title);
      if (answer.status !== 201) continue;
      const command = await device.link.command();
      device.link.puback(command.packet);
    }
  });

  t.test('each fault of a body is named, all at once', async (t) => {
    for (const [kind, rows] of [
      ['apn', APNS],
      ['wifi', NETWORKS],
    ] as const) {
      for (const [title, body, faults] of rows) {
        const answer = await put(kind, body);
        t.match(answer, { status: 400, body: { reason: 'invalid request.' } }, `${kind}: ${title}`);
        t.same(faultsOf(answer), faults, title);
      }
    }
    t.equal(device.link.pending('publish').length, 0, 'none of them reached the device');
  });

  t.test('the messages of faults are these words', async (t) => {
    const { body } = await put('wifi', [{ ssid: 'x', password: 'short', security: 'WPA3', y: 1 }, {}]);
    const words = body.details.map(({ loc, msg }: { loc: string[]; msg: string }) => `${loc.join('.')}: ${msg}`);
    t.same(words.sort(), [
      'body.0.password: String should have at least 8 bytes',
      'body.0.y: Extra inputs are not permitted',
      'body.1.security: Field required',
      'body.1.ssid: Field required',
    ]);
  });

  t.test('valid parameters arrive at the device unchanged', async (t) => {
    for (const [title, kind, body] of GOOD) {
      t.equal((await put(kind, body)).status, 201, title);
      const command = await device.link.command();
      device.link.puback(command.packet);
      t.same(command.parameters, kind === 'apn' ? { apns: body } : { networks: body }, title);
    }
  });
});

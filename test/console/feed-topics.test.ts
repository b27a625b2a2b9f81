import { toDomainError } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import { readTopics } from '../../src/edge/feed/feed-topics.ts';
import { beginningOf, SHOWN, shownPayload } from '../../src/edge/feed/redact-payload.ts';
import { deviceIdOf } from '../world.ts';

const IDS = Array.from({ length: 201 }, (_, index) => deviceIdOf(index));

t.test('topics have commas between them, and their names semicolons', async (t) => {
  t.same(readTopics(`fleet,transactions,receivers,audit,devices:${IDS[0]};${IDS[1]},device:${IDS[2]}`), {
    fleet: true,
    receivers: true,
    audit: true,
    transactions: 'all',
    devices: new Set([IDS[0], IDS[1]]),
    software: new Set(),
    rollouts: new Set(),
    messages: new Set([IDS[2]]),
  });
  t.same(readTopics('transactions:1;22').transactions, new Set([1, 22]));
  t.same(readTopics('software:com.example.a%401.0.0%2Bb.1').software, new Set(['com.example.a@1.0.0+b.1']));
  t.equal(readTopics(`devices:${IDS.slice(0, 200).join(';')}`).devices.size, 200);
});

t.test('an unknown topic is refused', async (t) => {
  const wrong = [
    '',
    'fleet,',
    'fleets',
    'fleet:1',
    'devices',
    'devices:',
    'devices:1',
    'devices:%zz',
    'devices:1:2',
    'device',
    'transactions:0',
    'transactions:x',
    'transactions:99999999999999999',
    'software:com.example',
    `devices:${IDS.join(';')}`,
    `devices:${IDS.slice(0, 150).join(';')},devices:${IDS.slice(100).join(';')}`,
    'rollouts',
    'rollouts:rol_1',
    `device:${IDS.slice(0, 5).join(';')}`,
    '__proto__:1',
  ];
  for (const text of wrong) {
    try {
      readTopics(text);
      t.fail(text);
    } catch (thrown) {
      const { code, details } = toDomainError(thrown);
      t.match(
        { code, details },
        { code: 'REQUEST_INVALID', details: [{ loc: ['query', 'topics'] }] },
        text.slice(0, 50),
      );
    }
  }
});

const shown = (payload: string | Buffer) => shownPayload(beginningOf(payload));

t.test('messages are shown without passwords and signatures', async (t) => {
  const url = 'https://store.example/lapel/a?X-Amz-Signature=0123&X-Amz-Date=1';
  const wifi = { networks: [{ ssid: 'office', password: 'correct "horse"', security: 'WPA2' }], url, n: 1 };
  t.same(JSON.parse(shown(JSON.stringify(wifi)).payload), {
    networks: [{ ssid: 'office', password: '••••', security: 'WPA2' }],
    url: 'https://store.example/lapel/a?••••',
    n: 1,
  });
  for (const value of ['"correct horse"', '["correct horse"]', '{"a":"correct horse"}', '12345horse'])
    for (const text of [`{"wifiPassword" : ${value}, "x": `, `x "secret":${value}`]) {
      const { payload } = shown(Buffer.from(text));
      t.notMatch(payload, /horse/, text);
      t.match(payload, /••••/);
    }
  t.notMatch(shown(`not JSON: ${url}`).payload, /0123/);
  t.same(shown('plain <b>text</b>'), { payload: 'plain <b>text</b>', truncated: false });
});

t.test('one list of secret names holds for every place in a message, and for every spelling', async (t) => {
  const names = ['psk', 'wifi_psk', 'pin', 'simPin', 'SIM-PUK', 'apiKey', 'X-Api-Key', 'cookie', 'Set-Cookie', 'user'];
  names.push(
    'authenticationKey',
    'Authorization',
    'refresh_token',
    'privateKey',
    'wepKey',
    'passcode',
    'p\\u0061ssword',
  );
  for (const name of names) {
    const json = JSON.stringify({ a: 1, NAME: 'the "horse" \\', b: 2 }).replace('NAME', name);
    const inText = JSON.stringify({ payload: json, b: 2 });
    const texts = [json, inText, JSON.stringify({ inText, b: 2 }), json.slice(0, -8), inText.slice(0, -12)];
    texts.push(`{"${name}":["horse","]",{"a":"}"}],"b":2}`, `{"${name}":{"a":"horse"},"b":2}`);
    for (const text of texts) {
      const { payload } = shown(text);
      t.notMatch(payload, /horse/, text);
      if (text.includes('b":2}') || text.includes('b\\":2}')) t.match(payload, /b\\*":2/, text);
    }
    if (!name.includes('\\')) t.notMatch(shown(`GET /\n${name}: horse a horse\nb: 2`).payload, /horse/, name);
    if (!name.includes('\\')) t.equal(shown(`${name}=horse&b=2`).payload, `${name}=••••&b=2`);
  }
  for (const kept of ['{"spinning":1}', '{"keyboard":"a","passed":2}', '{"password":null}', '{"bearer":"LTE"}', 'a: b'])
    t.equal(shown(kept).payload, kept);
  t.equal(shown('{"url":"https:\\/\\/a.example\\/b?sign=1"}').payload, '{"url":"https:\\/\\/a.example\\/b?••••"}');
  t.equal(shown('see ftp://me:horse@host/a').payload, 'see ftp://me:••••@host/a');
});

t.test('a long payload is cut, and marked as cut', async (t) => {
  t.same(shown('x'.repeat(SHOWN)), { payload: 'x'.repeat(SHOWN), truncated: false });
  t.same(shown('x'.repeat(SHOWN + 1)), { payload: 'x'.repeat(SHOWN), truncated: true });
  const large = JSON.stringify({ password: 'correct horse', rest: 'y'.repeat(300_000) });
  const { payload, truncated } = shown(Buffer.from(large));
  t.ok(truncated);
  t.notMatch(payload, /horse/);
  t.equal(payload.length, SHOWN);
});

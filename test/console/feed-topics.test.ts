import t from 'tap';
import { readTopics } from '../../src/console/feed-topics.ts';
import { SHOWN, shownPayload } from '../../src/console/redact-payload.ts';
import { toDomainError } from '../../src/errors.ts';
import { deviceIdOf } from '../world.ts';

const IDS = Array.from({ length: 201 }, (_, index) => deviceIdOf(index));

t.test('topics have commas between them, and their names semicolons', async (t) => {
  t.same(readTopics(`fleet,transactions,receivers,devices:${IDS[0]};${IDS[1]},device:${IDS[2]}`), {
    fleet: true,
    receivers: true,
    transactions: 'all',
    devices: new Set([IDS[0], IDS[1]]),
    software: new Set(),
    messages: new Set([IDS[2]]),
  });
  t.same(readTopics('transactions:1;22').transactions, new Set([1, 22]));
  t.same(readTopics('software:com.example.a%401.0.0%2Bb.1').software, new Set(['com.example.a@1.0.0+b.1']));
  t.equal(readTopics(`devices:${IDS.slice(0, 200).join(';')}`).devices.size, 200);
});

t.test('what is no topic is refused', async (t) => {
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

t.test('of a message neither passwords nor signatures are shown', async (t) => {
  const url = 'https://store.example/lapel/a?X-Amz-Signature=0123&X-Amz-Date=1';
  const wifi = { networks: [{ ssid: 'office', password: 'correct "horse"', security: 'WPA2' }], url, n: 1 };
  t.same(JSON.parse(shownPayload(JSON.stringify(wifi)).payload), {
    networks: [{ ssid: 'office', password: '••••', security: 'WPA2' }],
    url: 'https://store.example/lapel/a?••••',
    n: 1,
  });
  for (const value of ['"correct horse"', '["correct horse"]', '{"a":"correct horse"}', '12345horse'])
    for (const text of [`{"wifiPassword" : ${value}, "x": `, `x "secret":${value}`]) {
      const { payload } = shownPayload(Buffer.from(text));
      t.notMatch(payload, /horse/, text);
      t.match(payload, /••••/);
    }
  t.notMatch(shownPayload(`not JSON: ${url}`).payload, /0123/);
  t.same(shownPayload('plain <b>text</b>'), { payload: 'plain <b>text</b>', truncated: false });
});

t.test('what is long is cut, and said to be', async (t) => {
  t.same(shownPayload('x'.repeat(SHOWN)), { payload: 'x'.repeat(SHOWN), truncated: false });
  t.same(shownPayload('x'.repeat(SHOWN + 1)), { payload: 'x'.repeat(SHOWN), truncated: true });
  const large = JSON.stringify({ password: 'correct horse', rest: 'y'.repeat(300_000) });
  const { payload, truncated } = shownPayload(Buffer.from(large));
  t.ok(truncated);
  t.notMatch(payload, /horse/);
  t.equal(payload.length, SHOWN);
});

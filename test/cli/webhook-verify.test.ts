import { join } from 'node:path';
import { explainSignature } from '@lapel/schemas/base/explain-signature';
import t from 'tap';
import { createSigner } from '../../src/core/webhooks/signature.ts';
import { run } from './run.ts';

const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const BODY = '{"type":"custom.x","timestamp":"2026-11-20T09:30:00.123456Z","data":{"name":"Zoë","url":"a/b"}}';
const NOW = 1_795_167_000_000;
const signed = (body = BODY, at = NOW, keys = [KEY]) => createSigner()('msg_1', at * 1000, body, keys);
const GOOD = signed();
const linesOf = (headers: Record<string, string>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
const bytesOf = (body: string | Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(body));

const explained = (
  headers: Record<string, string> | string,
  { body = BODY, key = KEY, now = NOW }: { body?: string | Uint8Array; key?: string; now?: number } = {},
) =>
  explainSignature({
    headers: typeof headers === 'string' ? headers : linesOf(headers),
    body: bytesOf(body),
    authenticationKey: key,
    nowMs: now,
  });

t.test('a genuine webhook is told as such, in each form in which headers are logged', async (t) => {
  const forms = [
    linesOf(GOOD),
    JSON.stringify(GOOD),
    linesOf(GOOD).replace(/^/gm, '< ').replaceAll('webhook', 'Webhook'),
  ];
  for (const form of forms) t.match(await explained(form), { isGenuine: true });
  t.match(await explained(signed(BODY, NOW, [OTHER, KEY])), { isGenuine: true }, 'while a key is replaced');
  t.match(await explained(GOOD, { key: ` "${KEY}"\n` }), { isGenuine: true }, 'with what is around a pasted key');
});

t.test('of each other webhook the part is named that differs', async (t) => {
  const signature = GOOD['webhook-signature']!;
  const { data, ...rest } = JSON.parse(BODY) as Record<string, object>;
  const cases: [title: string, report: ReturnType<typeof explained>, part: string, text: RegExp][] = [
    ['another key', explained(GOOD, { key: OTHER }), 'webhook-signature', /another key/],
    ['no key', explained(GOOD, { key: '' }), 'key', /no key/],
    ['a key that is none', explained(GOOD, { key: 'whsec_§' }), 'key', /not an authenticationKey/],
    ['a key without its prefix', explained(GOOD, { key: KEY.slice(6) }), 'key', /lost its prefix/],
    [
      'another id',
      explained({ ...GOOD, 'webhook-id': 'msg_2' }),
      'webhook-signature',
      /webhook-id.* of another webhook/,
    ],
    ['no id', explained({ ...GOOD, 'webhook-id': '' }), 'webhook-id', /missing/],
    ['an old one', explained(GOOD, { now: NOW + 7_260_000 }), 'webhook-timestamp', /too old: signed 2 h ago/],
    ['one of the future', explained(GOOD, { now: NOW - 600_000 }), 'webhook-timestamp', /10 min in the future/],
    [
      'milliseconds',
      explained({ ...GOOD, 'webhook-timestamp': String(NOW) }),
      'webhook-timestamp',
      /It was 1795167000/,
    ],
    [
      'another version',
      explained({ ...GOOD, 'webhook-signature': `v2,${signature.slice(3)}` }),
      'webhook-signature',
      /v2,/,
    ],
    ['no version', explained({ ...GOOD, 'webhook-signature': signature.slice(3) }), 'webhook-signature', /no version/],
    [
      'a cut signature',
      explained({ ...GOOD, 'webhook-signature': signature.slice(0, 20) }),
      'webhook-signature',
      /cut off/,
    ],
    [
      'JSON with spaces',
      explained(GOOD, { body: JSON.stringify(JSON.parse(BODY), null, 2) }),
      'body',
      /parsed and written again/,
    ],
    [
      'escaped JSON',
      explained(GOOD, { body: BODY.replace('ë', '\\u00eb').replace('/', '\\/') }),
      'body',
      /spaces or escapes/,
    ],
    ['other order', explained(GOOD, { body: JSON.stringify({ data, ...rest }) }), 'body', /another order/],
    ['JSON in JSON', explained(GOOD, { body: JSON.stringify(BODY) }), 'body', /as a JSON string/],
    ['a line end', explained(GOOD, { body: `${BODY}\r\n` }), 'body', /line end was added.*from byte \d+ on/],
    ['a mark', explained(GOOD, { body: `\uFEFF${BODY}` }), 'body', /byte order mark/],
    ['Latin-1', explained(GOOD, { body: Buffer.from(BODY).toString('latin1') }), 'body', /Latin-1/],
    ['CR LF', explained(signed('a\r\nb'), { body: 'a\nb' }), 'body', /from CR LF to LF/],
    ['a word', explained(GOOD, { body: BODY.replace('Zoë', 'Zoe') }), 'webhook-signature', /No usual change/],
  ];
  for (const [title, report, part, text] of cases) {
    const { isGenuine, findings } = await report;
    t.equal(isGenuine, false, title);
    t.ok(
      findings.some((one) => one.part === part && one.isFault && text.test(one.text)),
      `${title}: ${JSON.stringify(findings)}`,
    );
  }
});

t.test('hostile text is told as it is, in a time that grows with its length only', async (t) => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  t.match(await explained(GOOD, { body: deep }), { isGenuine: false });
  t.match(await explained({ ...GOOD, 'webhook-signature': 'v1, '.repeat(100_000) }), { isGenuine: false });
  t.match(await explained(`${':'.repeat(100_000)}\n`.repeat(10)), { isGenuine: false });
});

t.test('lapel webhook verify says it, and its exit code, too', async (t) => {
  const now = createSigner()('msg_1', Date.now() * 1000, BODY, [KEY]);
  const folder = t.testdir({
    'good.txt': linesOf(now),
    'bad.txt': linesOf({ ...now, 'webhook-signature': 'v\u001b[31m,AAAA' }),
    body: BODY,
  });
  const verify = (headers: string, env: Record<string, string> = { LAPEL_AUTHENTICATION_KEY: KEY, NO_COLOR: '1' }) =>
    run(['webhook', 'verify', '--headers', join(folder, headers), '--body', join(folder, 'body')], { env });
  t.match(await verify('good.txt'), { code: 0, stdout: /right {2}webhook-signature/ });
  const bad = await verify('bad.txt');
  t.match(bad, { code: 1, stdout: /wrong {2}webhook-signature/, stderr: /not genuine/ });
  t.notMatch(bad.stdout, '\u001b', 'the terminal is not controlled by a header');
  t.match(await verify('none.txt'), { code: 2, stderr: /--headers/ });
});

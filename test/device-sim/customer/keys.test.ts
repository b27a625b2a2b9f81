import { createKeys } from '@lapel/device-sim/customer/keys';
import { Webhook } from 'standardwebhooks';
import t from 'tap';

const keyOf = (n: number): string => `whsec_${Buffer.alloc(32, n).toString('base64')}`;
const [FIRST, SECOND] = [keyOf(1), keyOf(2)];
const BODY = Buffer.from('{"type":"test"}');
const SECOND_MS = 1000;

/** The headers of an attempt that these keys have signed now, the newest first. */
function signedBy(...keys: readonly string[]) {
  const now = new Date();
  const signatures = keys.map((key) => new Webhook(key).sign('msg_1', now, BODY.toString()));
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
  };
}

/** The keys of a customer who has replaced the first one, so many milliseconds ago. */
async function replaced(ago: number, { isRepeated = false } = {}) {
  const unsigned: string[] = [];
  const looks: string[] = [];
  const keys = createKeys({
    nowOfDay: () => Date.now() - ago,
    look: (check) => looks.push(check),
    onUnsigned: (body) => unsigned.push(body.toString()),
  });
  keys.use(FIRST);
  await keys.replace(async () => ({ key: SECOND, isRepeated }));
  return { keys, unsigned, looks };
}

t.test('soon after a new key, attempts may still be signed with the former one', async (t) => {
  const { keys, unsigned } = await replaced(2 * SECOND_MS);
  for (const headers of [signedBy(FIRST), signedBy(SECOND, FIRST), signedBy(SECOND)])
    t.equal(keys.verify(headers, BODY).webhookId, 'msg_1');
  t.throws(() => keys.verify(signedBy(keyOf(3)), BODY), /webhook-signature/);
  t.strictSame(unsigned, []);
});

t.test('later they must be signed with the new key, and with the former one as well', async (t) => {
  const { keys, unsigned, looks } = await replaced(20 * SECOND_MS);
  keys.verify(signedBy(SECOND, FIRST), BODY);
  t.strictSame(unsigned, []);
  t.throws(() => keys.verify(signedBy(FIRST), BODY), /webhook-signature/);
  keys.verify(signedBy(SECOND), BODY);
  t.strictSame(unsigned, [BODY.toString()]);
  t.strictSame(new Set(looks), new Set(['webhook-new-key', 'webhook-former-key']));
});

t.test('after a day the former key signs no more', async (t) => {
  const { keys, unsigned } = await replaced(24 * 3600 * SECOND_MS);
  keys.verify(signedBy(SECOND), BODY);
  t.strictSame(unsigned, []);
});

t.test('while a new key is issued, attempts may be signed with it already', async (t) => {
  const keys = createKeys({ onUnsigned: () => t.fail('nothing is judged') });
  keys.use(FIRST);
  const issued = Promise.withResolvers<{ key: string; isRepeated: boolean }>();
  const replacing = keys.replace(() => issued.promise);
  keys.verify(signedBy(SECOND, FIRST), BODY);
  issued.resolve({ key: SECOND, isRepeated: false });
  await replacing;
  t.equal(keys.current, SECOND);
});

t.test('when the answer to a new key was lost, nobody knows the key before', async (t) => {
  const { keys, unsigned } = await replaced(20 * SECOND_MS, { isRepeated: true });
  keys.verify(signedBy(SECOND, keyOf(3)), BODY);
  t.strictSame(unsigned, []);
});

import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { createSigner } from '../../src/core/webhooks/signature.ts';

const signedHeaders = createSigner();

void t.test('the published vector of Standard Webhooks is met', async (t) => {
  const headers = signedHeaders('msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330_000_000, '{"test": 2432232314}', [
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  ]);
  t.equal(headers['webhook-id'], 'msg_p5jXN8AQM9LWM0D4loKWxJek');
  t.equal(headers['webhook-timestamp'], '1614265330');
  t.equal(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

void t.test('a fixed key, id, time and body give fixed headers', async (t) => {
  const body = '{"type":"transaction.succeeded","data":{"name":"Zoë 📷"}}';
  const key = `whsec_${Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64')}`;
  t.strictSame(signedHeaders('msg_1', 1_795_166_999_999_999, body, [key]), {
    'webhook-id': 'msg_1',
    'webhook-timestamp': '1795166999',
    'webhook-signature': 'v1,8Q0pJs50htpDPOw88HdqqXNk+sAKKOsQ3T1c/Gdwii4=',
  });
});

void t.test('the signature is a plain HMAC-SHA256 that any receiver can compute', async (t) => {
  const key = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const headers = signedHeaders('msg_2', 5_000_000, 'ü', [key]);
  const signed = createHmac('sha256', Buffer.alloc(32, 7)).update('msg_2.5.ü').digest('base64');
  t.equal(headers['webhook-signature'], `v1,${signed}`);
});

void t.test('there is one scheme of signatures: no other header is made from the key', async (t) => {
  const of = (...bytes: number[]) =>
    signedHeaders(
      'msg_5',
      5_000_000,
      '{}',
      bytes.map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`),
    );
  const [one, other, both] = [of(1), of(2), of(1, 2)];
  for (const headers of [one, other, both]) {
    const { 'webhook-signature': signature = '', ...rest } = headers;
    t.strictSame(rest, { 'webhook-id': 'msg_5', 'webhook-timestamp': '5' });
    for (const entry of signature.split(' ')) t.match(entry, /^v1,[A-Za-z0-9+/]{43}=$/);
  }
  t.not(one['webhook-signature'], other['webhook-signature']);
  t.equal(both['webhook-signature'], `${one['webhook-signature']} ${other['webhook-signature']}`);
});

void t.test('a key of another form cannot sign', async (t) => {
  t.throws(() => signedHeaders('msg_3', 0, '{}', ['whsec_!!!']));
  t.throws(() => signedHeaders('msg_3', 0, '{}', ['whsec_']));
  t.throws(() => signedHeaders('msg_3', 0, '{}', [Buffer.alloc(32, 1).toString('base64')]), 'no prefix');
  t.throws(() => signedHeaders('msg_3', 0, '{}', []));
});

void t.test('with a former key there is a second signature, which its holders verify', async (t) => {
  const [key, former] = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [string, string];
  const headers = signedHeaders('msg_4', Date.now() * 1000, '{}', [key, former]);
  t.equal(headers['webhook-signature']?.split(' ').length, 2);
  for (const each of [key, former]) t.ok(new Webhook(each).verify('{}', headers));
  t.throws(() => new Webhook(Buffer.alloc(32, 3).toString('base64')).verify('{}', headers));
});

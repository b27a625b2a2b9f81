import t from 'tap';
import { packSent, unpackSent } from '../../src/core/webhooks/http/sent-headers.ts';

const SENT = { 'webhook-timestamp': '1795166999', 'webhook-signature': 'v1,8Q0pJs50= v1,g0hM9SsE=' };
const TRACED = { ...SENT, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };

t.test('headers that were packed are unpacked as they were', (t) => {
  for (const headers of [SENT, TRACED]) t.strictSame(unpackSent(packSent(headers)), headers);
  t.end();
});

t.test('an attempt that an earlier release has stored, with a signature of another scheme, is read', (t) => {
  const stored = `${SENT['webhook-timestamp']}|${SENT['webhook-signature']}|ym3XCaYxGSYpPnZD0cgqmA==`;
  t.strictSame(unpackSent(stored), SENT);
  t.strictSame(unpackSent(`${stored}|${TRACED.traceparent}`), TRACED);
  t.end();
});

t.test('a node of an earlier release finds each part where it expects it', (t) => {
  t.strictSame(packSent(TRACED).split('|'), [
    SENT['webhook-timestamp'],
    SENT['webhook-signature'],
    '',
    TRACED.traceparent,
  ]);
  t.end();
});

import { createAttempts } from '@lapel/device-sim/customer/attempts';
import t from 'tap';

t.test('a webhook may come again when its schedule says so, 20 % earlier at most', (t) => {
  const attempts = createAttempts();
  t.equal(attempts.arrived('a', 0), undefined);
  attempts.ended('a', 'refused', 0);
  t.match(attempts.arrived('a', 3000), {
    kind: 'hammering',
    text: /3\.0 s after attempt 1 failed; the documented pause is 5 s/,
  });
  t.equal(attempts.arrived('a', 4000), undefined);
  attempts.ended('a', 'refused', 4000);
  t.match(attempts.arrived('a', 100_000), { kind: 'hammering', text: /the documented pause is 300 s/ });
  t.equal(attempts.arrived('a', 244_000), undefined);
  t.end();
});

t.test('a webhook may come again at once, one time, when its connection was closed', (t) => {
  const attempts = createAttempts();
  attempts.ended('a', 'dropped', 0);
  t.equal(attempts.arrived('a', 1), undefined);
  attempts.ended('a', 'dropped', 1);
  t.match(attempts.arrived('a', 2), { kind: 'hammering' });
  t.end();
});

t.test('a webhook that waited its time after a closed connection may be sent once more at once again', (t) => {
  const attempts = createAttempts();
  attempts.ended('a', 'dropped', 0);
  t.equal(attempts.arrived('a', 5000), undefined);
  attempts.ended('a', 'dropped', 5000);
  t.equal(attempts.arrived('a', 5001), undefined);
  attempts.ended('a', 'dropped', 5001);
  t.match(attempts.arrived('a', 10_000), {
    kind: 'hammering',
    text: /after attempt 2 failed; the documented pause is 300 s/,
  });
  t.equal(attempts.arrived('a', 245_001), undefined);
  t.end();
});

t.test('a webhook may not come again after its answer, unless the service was away or the customer asked', (t) => {
  const attempts = createAttempts();
  attempts.ended('a', 'taken', 0);
  t.match(attempts.arrived('a', 5000), { kind: 'repeated', text: /webhook a came again after an answer of 2xx/ });
  attempts.forget();
  t.equal(attempts.arrived('a', 5000), undefined);
  attempts.ended('a', 'taken', 5000);
  attempts.rest();
  t.equal(attempts.arrived('a', 5001), undefined);
  t.end();
});

t.test('an answer that a failing service may not have heard is none', (t) => {
  const attempts = createAttempts();
  attempts.arrived('before', 0);
  attempts.suspend(true);
  attempts.arrived('meanwhile', 1);
  attempts.suspend(false);
  for (const webhookId of ['before', 'meanwhile']) {
    attempts.ended(webhookId, 'taken', 2);
    t.equal(attempts.arrived(webhookId, 3), undefined);
    attempts.ended(webhookId, 'taken', 4);
    t.match(attempts.arrived(webhookId, 5), { kind: 'repeated' });
  }
  t.end();
});

t.test('while the service is made to fail, its attempts are not judged, and later ones begin anew', (t) => {
  const attempts = createAttempts();
  attempts.ended('a', 'taken', 0);
  attempts.suspend(true);
  attempts.ended('b', 'taken', 1);
  t.equal(attempts.arrived('a', 2), undefined);
  t.equal(attempts.arrived('b', 2), undefined);
  attempts.suspend(false);
  t.equal(attempts.arrived('a', 3), undefined);
  t.equal(attempts.arrived('b', 3), undefined);
  attempts.ended('a', 'taken', 3);
  t.match(attempts.arrived('a', 4), { kind: 'repeated' });
  t.end();
});

t.test('a webhook may not come before the time of a Retry-After, and never again after 410', (t) => {
  const attempts = createAttempts();
  attempts.ended('a', 'refused', 0, 10_000);
  t.match(attempts.arrived('a', 6000), {
    kind: 'hammering',
    text: /6\.0 s after attempt 1 failed; Retry-After asked for 10 s/,
  });
  t.equal(attempts.arrived('a', 10_000), undefined);
  attempts.ended('a', 'refused', 10_000, 10_000);
  t.match(attempts.arrived('a', 25_000), { text: /the documented pause is 300 s/ }, 'the schedule asks for more');
  attempts.ended('b', 'gone', 0);
  t.match(attempts.arrived('b', 3_600_000), { kind: 'hammering', text: /webhook b came again after an answer of 410/ });
  t.end();
});

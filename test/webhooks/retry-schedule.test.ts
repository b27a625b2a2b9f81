import t from 'tap';
import { type Answer, judge, RETRY_DELAY_SECONDS, retryAfterSeconds } from '../../src/core/webhooks/retry-schedule.ts';

const NOW = Date.UTC(2026, 10, 20, 9, 30) * 1000;
const TIMES = { now: NOW, wall: NOW };
const answered = (statusCode: number, retryAfter: string | null = null): Answer => ({
  statusCode,
  retryAfter,
  error: null,
});
const none: Answer = { statusCode: null, retryAfter: null, error: 'connect ECONNREFUSED' };
const waits = (answer: Answer, attempts: number, random = 0.5) => {
  const { nextAttemptAt } = judge(answer, attempts, TIMES, () => random);
  return nextAttemptAt === null ? null : (nextAttemptAt - NOW) / 1_000_000;
};

void t.test('only a 2xx delivers, and only 410 stops', async (t) => {
  for (const code of [200, 201, 202, 204, 299]) t.equal(judge(answered(code), 1, TIMES, () => 0.5).status, 'delivered');
  t.strictSame(
    judge(answered(410), 1, TIMES, () => 0.5),
    { status: 'gone', nextAttemptAt: null },
  );
  for (const code of [301, 302, 304, 307, 400, 401, 404, 409, 429, 500, 503])
    t.equal(judge(answered(code), 1, TIMES, () => 0.5).status, 'pending', String(code));
  t.equal(judge(none, 1, TIMES, () => 0.5).status, 'pending');
});

void t.test('the delays are those of the contract, then it is exhausted', async (t) => {
  const contract = ['5 s', '5 min', '30 min', '2 h', '5 h', '10 h', '14 h', '20 h', '24 h'].map((text) => {
    const [number, unit = 's'] = text.split(' ');
    return Number(number) * ({ s: 1, min: 60, h: 3600 }[unit] ?? 0);
  });
  t.strictSame([...RETRY_DELAY_SECONDS], contract);
  contract.forEach((delay, index) => {
    t.equal(waits(none, index + 1), delay);
  });
  t.strictSame(
    judge(none, 10, TIMES, () => 0.5),
    { status: 'exhausted', nextAttemptAt: null },
  );
  t.equal(judge(answered(503, '60'), 10, TIMES, () => 0.5).status, 'exhausted', 'whatever Retry-After says');
});

void t.test('jitter is a fifth in both directions', async (t) => {
  RETRY_DELAY_SECONDS.forEach((delay, index) => {
    t.equal(waits(none, index + 1, 0), delay * 0.8);
    t.ok(Math.abs((waits(none, index + 1, 0.999999) ?? 0) - delay * 1.2) < 1);
  });
});

void t.test('Retry-After is honoured when it is longer, and never beyond a day', async (t) => {
  t.equal(waits(answered(429, '2'), 1), 5, 'shorter');
  t.equal(waits(answered(429, '120'), 1), 120, 'longer');
  t.equal(waits(answered(503, 'Fri, 20 Nov 2026 09:40:00 GMT'), 1), 600, 'a date');
  t.equal(waits(answered(503, 'Fri, 20 Nov 2026 09:20:00 GMT'), 1), 5, 'a date that has passed');
  t.equal(waits(answered(503, '999999999999999999999'), 1), 86_400, 'absurd');
  t.equal(waits(answered(503, 'Fri, 20 Nov 2099 09:40:00 GMT'), 1), 86_400, 'an absurd date');
  for (const text of ['soon', '-5', '1e9', '5.5', '', '2099-01-01', 'Fri, 99 Nov 2026 09:40:00 GMT'])
    t.equal(retryAfterSeconds(text, NOW), 0, JSON.stringify(text));
  t.equal(retryAfterSeconds(null, NOW), 0);
  const ahead = { now: NOW + 7200 * 1_000_000, wall: NOW };
  t.equal(
    judge(answered(503, 'Fri, 20 Nov 2026 09:40:00 GMT'), 1, ahead, () => 0.5).nextAttemptAt,
    ahead.now + 600 * 1_000_000,
    'a date is compared with the clock of the machine',
  );
});

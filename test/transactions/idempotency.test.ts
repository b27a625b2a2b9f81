import t from 'tap';
import { createIdempotency } from '../../src/core/transactions/idempotency.ts';
import { createMetrics } from '../../src/metrics.ts';
import { openTestDatabase } from '../applications/tenant.ts';

const DAY = 24 * 3600 * 1000;

t.test('while the first request with a key has no answer', async (t) => {
  const { database, clock } = openTestDatabase(t);
  const metrics = createMetrics();
  const { once } = createIdempotency({ database, clock, metrics, trust: { isHeld: () => false } });
  const request = { applicationId: 'app', key: 'key', request: 'one' };
  const answerWith = (text: string) => async (keep: (unit: never, answer: string) => Promise<void>) => {
    await database.transact((unit) => keep(unit as never, text));
    return text;
  };
  const held = Promise.withResolvers<void>();
  const first = once(request, async (keep) => {
    await held.promise;
    return answerWith('first')(keep as never);
  });

  t.test('a repetition is refused, and so is another request with its key', async (t) => {
    const running = { code: 'IDEMPOTENCY_KEY_RUNNING' };
    await t.rejects(once(request, answerWith('second')), running);
    await t.rejects(once({ ...request, request: 'two' }, answerWith('second')), { code: 'IDEMPOTENCY_KEY_REUSED' });
    t.same(await once({ ...request, applicationId: 'other' }, answerWith('theirs')), {
      answer: 'theirs',
      replayed: false,
    });
    t.same(await once({ ...request, key: 'other' }, answerWith('mine')), { answer: 'mine', replayed: false });
  });

  t.test('when it is answered, that is the answer', async (t) => {
    held.resolve();
    t.same(await first, { answer: 'first', replayed: false });
    t.same(await once(request, answerWith('second')), { answer: 'first', replayed: true });
  });

  t.test('repetitions at the same time all get it, also beside another request with the key', async (t) => {
    const other = { ...request, request: 'two' };
    const wrong = t.rejects(once(other, answerWith('second')), { code: 'IDEMPOTENCY_KEY_REUSED' });
    const all = await Promise.all(Array.from({ length: 5 }, () => once(request, answerWith('second'))));
    for (const one of all) t.same(one, { answer: 'first', replayed: true });
    await t.rejects(once(other, answerWith('second')), { code: 'IDEMPOTENCY_KEY_REUSED' });
    await wrong;
  });

  t.test('a failed request leaves its key unused', async (t) => {
    const failing = { ...request, key: 'failing' };
    await t.rejects(
      once(failing, () => Promise.reject(new Error('no'))),
      { message: 'no' },
    );
    t.same(await once(failing, answerWith('again')), { answer: 'again', replayed: false });
  });

  t.test('old answers are removed when new ones are stored', async (t) => {
    const count = async () => (await database.read.get<{ n: number }>('SELECT count(*) AS n FROM idempotency_keys'))?.n;
    const before = Number(await count());
    clock.advance(DAY + 1);
    for (let index = 0; index < before; index += 1) {
      await once({ ...request, key: `new ${index}` }, answerWith('new'));
    }
    t.equal(await count(), before, 'as many as are new');
  });
});

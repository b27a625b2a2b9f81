import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { DomainError } from '@lapel/schemas/contracts/errors';
import t, { type Test } from 'tap';
import { createAudit } from '../../src/core/audit/audit.ts';
import { createRefusals } from '../../src/core/audit/refusals.ts';
import { createWaitingNotes } from '../../src/core/audit/waiting-notes.ts';
import { createMetrics } from '../../src/metrics.ts';
import { openPostgres } from '../../src/platform/database/postgres/open-postgres.ts';
import { randomIds } from '../../src/runtime/ids.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';
import { NO_POSTGRES, startTestPostgres } from '../postgres/databases.ts';
import { until } from '../until.ts';

/** Shorter than those of the service. */
const BOUNDS = { statementMs: 2_000, lockMs: 60, silenceMs: 300 };
const NOTE = { action: 'RAISE /numbers', resource: '/numbers', id: 'life_1', details: { reason: 'other_database' } };

/** A log, and the lines of it. */
function logAt(level: 'warn' | 'error') {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) } as unknown as NodeJS.WritableStream;
  return { log: createLog({ level, destination }), lines };
}

async function startAudit(t: Test) {
  const postgres = await startTestPostgres();
  t.teardown(() => postgres[Symbol.asyncDispose]());
  const url = await postgres.createDatabase();
  const database = await openPostgres({ url, nowMicros: 0, bounds: BOUNDS, longestWaitMs: 200 });
  t.teardown(() => database.close());
  const clock = createFakeClock();
  const metrics = createMetrics();
  const { log, lines } = logAt('warn');
  const audit = createAudit({ database, clock, log, metrics });
  await audit.noted({ ...NOTE, id: 'life_0' });
  /** Moves the clock on until the promise resolves. */
  async function whileTimePasses(promise: Promise<void>): Promise<void> {
    let isOver = false;
    void promise.then(() => {
      isOver = true;
    });
    while (!isOver) {
      clock.advance(1_000);
      await pause(20);
    }
  }
  return { postgres, audit, clock, lines, whileTimePasses, metrics };
}

t.test(
  'what the service did while the database was away is noted when it is back',
  { skip: NO_POSTGRES },
  async (t) => {
    const { postgres, audit, clock, lines, whileTimePasses } = await startAudit(t);
    const at = clock.now();
    await postgres.kill();
    const noted = audit.noted(NOTE);
    clock.advance(5_000);
    await postgres.start();
    await whileTimePasses(noted);
    const { rows } = await audit.list({ limit: 10, offset: 0 });
    t.match(rows, [{ action: NOTE.action, requestId: 'life_1', at, details: NOTE.details }, { requestId: 'life_0' }]);
    t.equal(rows.length, 2, 'once');
    t.match(
      lines.map((line) => JSON.parse(line) as object),
      [{ level: 40, action: NOTE.action, msg: 'an action of the service is not in the audit log yet; trying again' }],
    );
  },
);

t.test(
  'a service that ends before the database is back says what it could not note',
  { skip: NO_POSTGRES },
  async (t) => {
    const { postgres, audit, lines, metrics } = await startAudit(t);
    await postgres.kill();
    const noted = audit.noted(NOTE);
    await audit.waitingNotes[Symbol.asyncDispose]();
    await noted;
    t.match(JSON.parse(lines.at(-1)!), {
      level: 50,
      action: NOTE.action,
      details: NOTE.details,
      msg: 'an action of the service could not be written to the audit log',
    });
    t.match(await metrics.registry.metrics(), /^lapel_audit_notes_lost_total 1$/m);
  },
);

for (const isBack of [true, false])
  t.test(`a note that is being stored when the service ends is ${isBack ? 'not ' : ''}called lost`, async (t) => {
    const { log, lines } = logAt('error');
    const again = Promise.withResolvers<void>();
    const stored = Promise.withResolvers<void>();
    let attempts = 0;
    const notes = createWaitingNotes<typeof NOTE>({
      clock: createFakeClock(),
      log,
      metrics: createMetrics(),
      async store() {
        attempts += 1;
        if (attempts === 1) throw new DomainError('DATABASE_UNAVAILABLE');
        again.resolve();
        await stored.promise;
      },
    });
    const noted = notes.add(NOTE);
    await again.promise;
    const ended = notes[Symbol.asyncDispose]();
    if (isBack) stored.resolve();
    else stored.reject(new DomainError('DATABASE_UNAVAILABLE'));
    await Promise.all([noted, ended]);
    t.equal(lines.length, isBack ? 0 : 1);
    t.equal(attempts, 2, 'the stop waits for the database once');
  });

t.test('a note that waits when the service ends is stored if the database is back', async (t) => {
  const { log, lines } = logAt('error');
  const stored: string[] = [];
  let attempts = 0;
  let isAway = true;
  const tried = Promise.withResolvers<void>();
  const notes = createWaitingNotes<typeof NOTE>({
    clock: createFakeClock(),
    log,
    metrics: createMetrics(),
    async store({ id }) {
      attempts += 1;
      if (attempts === 2) tried.resolve();
      if (isAway) throw new DomainError('DATABASE_UNAVAILABLE');
      stored.push(id);
    },
  });
  const noted = notes.add(NOTE);
  await tried.promise;
  await turn(); // the try has failed
  isAway = false;
  await notes[Symbol.asyncDispose]();
  await noted;
  t.same(stored, [NOTE.id]);
  t.same(lines, []);
});

t.test('refused calls of all kinds are told at once while the database is away', async (t) => {
  const { log, lines } = logAt('warn');
  const [clock, metrics] = [createFakeClock(), createMetrics()];
  const notes = createWaitingNotes<typeof NOTE>({
    clock,
    log,
    metrics,
    store: () => Promise.reject(new DomainError('DATABASE_UNAVAILABLE')),
  });
  const audit = { noted: (note: object) => notes.add(note as typeof NOTE) };
  const refusals = createRefusals({ audit, clock, ids: randomIds, metrics });
  for (let listener = 0; listener < 5; listener += 1)
    refusals.count(new DomainError('CLIENT_INVALID'), {
      listener: `listener ${listener}`,
      method: 'POST',
      path: '/oauth/token',
      requestId: `req_${listener}`,
      address: '127.0.0.1',
    });
  clock.advance(60_000);
  await until(() => lines.length > 0);
  t.equal(lines.length, 5);
  await notes[Symbol.asyncDispose]();
});

import { setTimeout as pause } from 'node:timers/promises';
import { DomainError } from '@lapel/schemas/contracts/errors';
import t, { type Test } from 'tap';
import { createAudit } from '../../src/core/audit/audit.ts';
import { createWaitingNotes } from '../../src/core/audit/waiting-notes.ts';
import { createMetrics } from '../../src/metrics.ts';
import { openPostgres } from '../../src/platform/database/postgres/open-postgres.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';
import { NO_POSTGRES, startTestPostgres } from '../postgres/databases.ts';

/** Shorter than those of the service. */
const BOUNDS = { statementMs: 2_000, lockMs: 60, silenceMs: 300 };
const NOTE = { action: 'RAISE /numbers', resource: '/numbers', id: 'life_1', details: { reason: 'other_database' } };

async function startAudit(t: Test) {
  const postgres = await startTestPostgres();
  t.teardown(() => postgres[Symbol.asyncDispose]());
  const url = await postgres.createDatabase();
  const database = await openPostgres({ url, nowMicros: 0, bounds: BOUNDS, longestWaitMs: 200 });
  t.teardown(() => database.close());
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) } as unknown as NodeJS.WritableStream;
  const clock = createFakeClock();
  const metrics = createMetrics();
  const audit = createAudit({ database, clock, log: createLog({ level: 'warn', destination }), metrics });
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
      [{ level: 40, action: NOTE.action, msg: 'an action of the service is noted when the database is back' }],
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

t.test('a note that is being stored when the service ends is not called lost', async (t) => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) } as unknown as NodeJS.WritableStream;
  const again = Promise.withResolvers<void>();
  const stored = Promise.withResolvers<void>();
  let attempts = 0;
  const notes = createWaitingNotes<typeof NOTE>({
    clock: createFakeClock(),
    log: createLog({ level: 'error', destination }),
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
  stored.resolve();
  await Promise.all([noted, ended]);
  t.same(lines, []);
  t.equal(attempts, 2);
});

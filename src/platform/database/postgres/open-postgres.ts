import { DomainError } from '../../../errors.ts';
import { placeOf } from '../../../runtime/database-hosts.ts';
import type { NewLife, Raised } from '../number-floor.ts';
import type { Database, Transact } from '../sql.ts';
import type { QueueOptions } from '../unit-queue.ts';
import type { Bounds, Connection } from './connection.ts';
import { SHORT } from './connection.ts';
import { beginLife, changeOf, type Place, placeThrough, readPlace } from './database-identity.ts';
import { createPostgresGroupCommit } from './group-commit.ts';
import { createLinks, type Link } from './link.ts';
import { migrate } from './migrations.ts';
import { createReading } from './reading.ts';
import { checkPooler, checkSettings } from './server-check.ts';
import { isAwayAtStart } from './trouble.ts';
import { Unfit } from './unfit-server.ts';
import { createPatience } from './wait-bound.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database?sslmode=...` */
  url: string;
  nowMicros: number;
  /** A new life of the database begins. Without it nothing may be given out of it, and no number is raised. */
  newLife?(): NewLife;
  /** Numbers go on higher than where they were: at the start, and whenever the database is another one than before. */
  onRaised?(raised: Raised): void;
  onCommit?(commit: { seconds: number; committed: number; rolledBack: number }): void;
  onEffectError?(cause: unknown): void;
  /** The database cannot be reached, told once; and that it is there again. */
  onAway?(cause: unknown): void;
  onBack?(): void;
  /** Of what others wait for, and of what heals. */
  bounds?: Bounds;
  /** Milliseconds that a start waits for a database that does not answer; none unless told. */
  waitMs?: number;
  /** Milliseconds after which they are told that the database is away. */
  patienceMs?: number;
  /** The developer of a device, where that is known. */
  ownerOf?: QueueOptions['ownerOf'];
}

/** Connections that only read. */
const READERS = 4;

// Milliseconds. A server that has gone without a word is given up after them, so none is longer than somebody could wait.
/** For what looks at many rows. */
const LONG: Bounds = { statement: 30_000, lock: 500, silence: 33_000 };
/** For what heals: it looks at pages of rows. */
const PROMPT: Bounds = { statement: 5_000, lock: 500, silence: 5_000 };
/** For migrations, which take as long as their tables are large. */
const MIGRATING: Bounds = { statement: 0, lock: 60_000, silence: Number.POSITIVE_INFINITY };

const rethrow = (cause: unknown): never => {
  throw cause;
};

/** The identity column of each table that has one. */
async function readIdentities(connection: Connection): Promise<Map<string, string>> {
  const { rows } = await connection.query(
    `SELECT c.relname::text AS "table", a.attname::text AS "column" FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE a.attidentity <> '' AND c.relnamespace = current_schema()::regnamespace`,
  );
  return new Map((rows as { table: string; column: string }[]).map(({ table, column }) => [table, column]));
}

/**
 * Opens (and migrates) the database of a PostgreSQL server, which other nodes may use too. Rejects with a clear message when
 * it must not be used, or does not answer. Later it can go and come back: meanwhile whoever asks is told
 * DATABASE_UNAVAILABLE within 5 s.
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, nowMicros, onCommit, onEffectError = rethrow, bounds = SHORT, patienceMs } = options;
  const prompt = options.bounds ?? PROMPT;
  const { onAway = () => undefined, onBack = () => undefined } = options;
  /** Where the writing connection was last; undefined before the start, and where no number is given out. */
  let known: Place | undefined;

  async function begin(connection: Connection, newLife: () => NewLife): Promise<void> {
    const at = await placeThrough(connection);
    const before = known;
    const isSame = before !== undefined && changeOf(before, at) === undefined;
    const raised = isSame ? undefined : await beginLife({ connection, at, before, ...newLife() });
    known = at; // now: one that was not raised is looked at again
    if (raised) options.onRaised?.(raised);
  }

  let isChecked = false;
  const links = createLinks({
    url,
    async prepare(connection, { readOnly }, open) {
      await checkSettings(connection);
      if (!isChecked) await checkPooler(connection, open);
      isChecked = true;
      // Before the first number is given out there: the connection may have led to another database than before.
      if (known && options.newLife && !readOnly) await begin(connection, options.newLife);
    },
    onAway,
    onBack,
  });
  /** A database that is about to start, or to take over, is waited for; one that refuses is not. */
  async function connectAtStart(): Promise<Connection> {
    const giveUp = performance.now() + (options.waitMs ?? 0);
    for (let waits = false; ; waits = true) {
      try {
        const connection = await links.once(MIGRATING);
        if (waits) onBack();
        return connection;
      } catch (cause) {
        if (performance.now() > giveUp || !isAwayAtStart(cause)) throw cause;
        if (!waits) onAway(cause);
      }
    }
  }
  let identities: Map<string, string>;
  try {
    const first = await connectAtStart();
    await migrate(first, nowMicros);
    if (options.newLife) await begin(first, options.newLife);
    identities = await readIdentities(first);
    await first.end();
  } catch (cause) {
    await links.close();
    const reason = (cause as Error).message || (cause as { code?: string }).code;
    if (cause instanceof Unfit)
      throw new DomainError('SETTING_INVALID', { values: { setting: 'LAPEL_DATABASE_URL', problem: cause.message } });
    throw new Error(`the database ${placeOf(url)} cannot be used: ${reason}`, { cause });
  }
  const writer = links.link({ ...bounds, keepsPlans: true });
  const readers = Array.from({ length: READERS }, () => links.link({ ...bounds, readOnly: true }));
  const apart = links.link({ ...LONG, readOnly: true });
  const healer = links.link({ ...prompt, readOnly: true });
  /** For what nobody waits for. */
  const background = links.link({ ...bounds, keepsPlans: true });
  await Promise.all([writer, ...readers].map((link) => link.ready()));

  const longest = patienceMs === undefined ? {} : { longest: patienceMs };
  const writing = createPatience({ awayFor: writer.awayFor, ...longest });
  const reading = createPatience({ awayFor: () => Math.min(...readers.map((link) => link.awayFor())), ...longest });
  const lasting = createPatience({ awayFor: apart.awayFor, longest: LONG.silence });
  const healing = createPatience({ awayFor: healer.awayFor, longest: prompt.silence });
  const read = createReading(readers, reading);
  const aside = createReading([apart], lasting);
  const queueOn = (link: Link) =>
    createPostgresGroupCommit({
      link,
      identities,
      observe: (made) => onCommit?.(made),
      onEffectError,
      ownerOf: options.ownerOf,
    });
  const group = queueOn(writer);
  const later = queueOn(background);
  /** For those who wait; a unit that nobody waits for any more is not run. */
  const bounded = (transact: Transact): Transact => {
    return (work, key) =>
      writing.bounded((given) =>
        transact((unit) => {
          if (given()) throw new DomainError('DATABASE_UNAVAILABLE');
          return work(unit);
        }, key),
      );
  };

  return {
    concurrent: true,
    remote: true,
    read,
    aside,
    prompt: createReading([healer], healing),
    transact: bounded(group.transact),
    transactSoon: bounded(later.transactSoon),
    transactAlong: bounded(group.transactSoon),
    transactInCrowd: bounded(group.transactInCrowd),
    async idle() {
      await later.idle();
      await group.idle();
    },
    async size() {
      const row = await aside.get<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes');
      return { database: row?.bytes ?? 0, log: 0, free: 0 };
    },
    async seenAt(ask) {
      const before = known;
      if (!before) return;
      const at = await readPlace(ask);
      if (changeOf(before, at)) links.renew(new Error('another connection has led to another database than this one'));
      else if (known === before) known = at;
    },
    async healthy() {
      await read.get('SELECT 1 AS one');
      return writer.current() !== undefined;
    },
    async close() {
      const queues = [later, group];
      const waiting = [writing, reading, lasting, healing];
      if (writer.current()) for (const queue of queues) await queue.close();
      for (const patience of waiting) patience.end('the database is being closed');
      await links.close();
      for (const queue of queues) await queue.close();
      for (const patience of waiting) patience.close();
    },
  };
}

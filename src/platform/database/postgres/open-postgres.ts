import { DomainError } from '@lapel/schemas/contracts/errors';
import { placeOf } from '../../../runtime/database-hosts.ts';
import { Refused, Unusable } from '../../../runtime/refused.ts';
import { createVault, type Vault } from '../../encryption/vault.ts';
import { createBusyKeys } from '../busy-keys.ts';
import type { NewLife, Raised } from '../number-floor.ts';
import type { Database, Transact, UnitOptions } from '../sql.ts';
import type { QueueOptions } from '../unit-queue.ts';
import type { Told } from '../upgrade-plan.ts';
import type { Bounds, Connection } from './connection.ts';
import { SHORT } from './connection.ts';
import { beginLife, changeOf, type DatabaseIdentity, identityThrough, readIdentity } from './database-identity.ts';
import { createDecidedEvents } from './decided-events.ts';
import { createPostgresGroupCommit } from './group-commit.ts';
import { createLinks, type Link } from './link.ts';
import { migrate } from './migrations.ts';
import { createReading } from './reading.ts';
import { checkAgain, checkPooler, checkSettings } from './server-check.ts';
import { faultAtStart, isAwayAtStart } from './trouble.ts';
import { createWaitBound } from './wait-bound.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database?sslmode=...` */
  url: string;
  /** Tells the URL for each connection, whose password may be another one by now. */
  currentUrl?(): string;
  nowMicros: number;
  /**
   * Returns the identifier and the time that a raise of the numbers is recorded with. Without this function no number
   * is raised, so none may be given out.
   */
  newLife?(): NewLife;
  /**
   * Called when numbers were raised: at the start, after a restart of the database server, and when the service has
   * reached another database than before.
   */
  onRaised?(raised: Raised): void;
  onCommit?(commit: { seconds: number; committed: number; rolledBack: number }): void;
  onEffectError?(cause: unknown): void;
  /** `onAway` is called once when the database becomes unavailable, `onBack` when it is available again. */
  onAway?(cause: unknown): void;
  onBack?(): void;
  /** Called once when a setting of the server that the service does not follow was changed, with a sentence. */
  onDoubt?(sentence: string): void;
  /** Limits of the connections for callers and for recovery between nodes. */
  bounds?: Bounds;
  /** Milliseconds that a start waits for a database that does not answer; 0 by default. */
  waitMs?: number;
  /** Milliseconds after which a caller who waits gets DATABASE_UNAVAILABLE. */
  longestWaitMs?: number;
  /** Receives each line about a migration of a database of an older release. */
  onUpgrade?: Told;
  /** Returns the developer of a device, if it is known. */
  ownerOf?: QueueOptions['ownerOf'];
  /** Encrypts secrets of rows; without it they are stored as they are. */
  vault?: Vault;
}

/** The number of connections for reading. */
const READERS = 4;
/** The most commits of units with a key at the same time, when the database is far away. */
const LANES = 4;
/** The most units without a key at the same time, each in a commit of its own. */
const ALONE = 4;
const LOOK_AGAIN_MS = 1_000;
const STATEMENTS_AT_ONCE = 100;
/** With it, a pause of 19 times the own work, as background work makes it, is as long as the unit before it. */
const OWN_SHARE = 1 / 19;
/** Milliseconds for which readiness tells that the server lacked disk or memory for a write. */
const SHORT_FOR_MS = 10_000;
/**
 * Milliseconds of a round trip from which the database counts as far away. Below it commits side by side only make their
 * groups smaller: measured at 0.2 ms with 64 callers, they took a third more of the database's processor time.
 */
const FAR_MS = 1;

// A caller waits for up to `silenceMs` before a server that does not answer is given up, so each purpose has a time
// that its callers can wait.
/** The time limits of queries over many rows. */
const LONG: Bounds = { statementMs: 30_000, lockMs: 500, silenceMs: 33_000 };
/**
 * The time limits for reads by which a node finds the devices and receivers of dead nodes; each reads one page of rows.
 */
const PROMPT: Bounds = { statementMs: 5_000, lockMs: 500, silenceMs: 5_000 };
/**
 * The time limits of the connection for migrations, whose duration depends on the size of the tables. The server must not
 * end a migration because a busy machine lets the starting process wait between two statements.
 */
export const MIGRATING: Bounds = {
  statementMs: 0,
  idleInTransactionMs: 60_000,
  lockMs: 60_000,
  silenceMs: Number.POSITIVE_INFINITY,
};

const rethrow = (cause: unknown): never => {
  throw cause;
};

/** The identity column (GENERATED AS IDENTITY) of each table that has one. */
async function readIdentityColumns(connection: Connection): Promise<Map<string, string>> {
  const { rows } = await connection.query(
    `SELECT c.relname::text AS "table", a.attname::text AS "column" FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE a.attidentity <> '' AND c.relnamespace = current_schema()::regnamespace`,
  );
  return new Map((rows as { table: string; column: string }[]).map(({ table, column }) => [table, column]));
}

/**
 * Opens (and migrates) a PostgreSQL database, which other nodes may use too. Rejects with a clear message when it must not
 * be used, or does not answer. Later it may become unavailable and come back: callers then get DATABASE_UNAVAILABLE within
 * 5 s.
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const {
    url,
    nowMicros,
    onCommit,
    onEffectError = rethrow,
    bounds = SHORT,
    longestWaitMs,
    vault = createVault(),
  } = options;
  const prompt = options.bounds ?? PROMPT;
  const { onAway = () => undefined, onBack = () => undefined } = options;
  /** The database that the writing connection last reached; undefined before the start, and if no numbers are given out. */
  let known: DatabaseIdentity | undefined;

  async function raiseIfChanged(connection: Connection, newLife: () => NewLife): Promise<void> {
    const at = await identityThrough(connection);
    const before = known;
    const isSame = before !== undefined && changeOf(before, at) === undefined;
    const raised = isSame ? undefined : await beginLife({ connection, at, before, ...newLife() });
    known = at; // only now: if the raise fails, the next connection tries it again
    if (raised) options.onRaised?.(raised);
  }

  let isChecked = false;
  /** The way to commit that the first connection found, and that all others set. */
  let commits: string | undefined;
  const links = createLinks({
    url: options.currentUrl ?? url,
    async prepare(connection, { readOnly }, open) {
      if (!isChecked) await checkPooler(connection, open); // first: settings belong to a connection of its own
      commits = await checkSettings(connection, commits);
      isChecked = true;
      // The connection may have reached another database, so the numbers are raised before this connection gives out
      // any.
      if (known && options.newLife && !readOnly) await raiseIfChanged(connection, options.newLife);
    },
    onAway,
    onBack,
  });
  /**
   * Waits at the start for a database that is not there yet, or is still a standby; an error that will not pass is thrown at
   * once.
   */
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
    await migrate(first, nowMicros, undefined, options.onUpgrade);
    if (options.newLife) await raiseIfChanged(first, options.newLife);
    identities = await readIdentityColumns(first);
    await first.end();
  } catch (cause) {
    await links.close();
    const reason = (cause as Error).message || (cause as { code?: string }).code;
    const problem = faultAtStart(cause);
    if (problem !== undefined)
      throw new DomainError('SETTING_INVALID', { values: { setting: 'LAPEL_DATABASE_URL', problem } });
    // An error of the system or of the server has a code; another one is a mistake in this program, and shows its place.
    const isOutside = (cause as { code?: string }).code !== undefined;
    const Kind = cause instanceof Refused ? Refused : isOutside ? Unusable : Error;
    throw new Kind(`the database ${placeOf(url)} cannot be used: ${reason}`, { cause });
  }
  const writers = Array.from({ length: LANES }, () => links.link({ ...bounds, keepsPlans: true }));
  const [writer] = writers as [Link];
  const loners = Array.from({ length: ALONE }, () => links.link({ ...bounds, keepsPlans: true }));
  const readers = Array.from({ length: READERS }, () => links.link({ ...bounds, readOnly: true }));
  const apart = links.link({ ...LONG, readOnly: true });
  const healer = links.link({ ...prompt, readOnly: true });
  /** The connection for units of work without a waiting caller (`soon`). */
  const background = links.link({ ...bounds, keepsPlans: true });
  await Promise.all([writer, ...readers].map((link) => link.ready()));

  const longest = longestWaitMs === undefined ? {} : { longestMs: longestWaitMs };
  const writing = createWaitBound({ awayForMs: writer.awayFor, ...longest });
  const reading = createWaitBound({
    awayForMs: () => Math.min(...readers.map((link) => link.awayFor())),
    ...longest,
  });
  const lasting = createWaitBound({ awayForMs: apart.awayFor, longestMs: LONG.silenceMs });
  const healing = createWaitBound({ awayForMs: healer.awayFor, longestMs: prompt.silenceMs });
  const read = createReading(readers, reading, vault);
  const aside = createReading([apart], lasting, vault);
  const busy = createBusyKeys();
  /** The last write for which the server lacked disk or memory. */
  let short = { at: Number.NEGATIVE_INFINITY, reason: '' };
  /** A sentence about settings of the server that have changed; undefined when they are as at the start. */
  let differing: string | undefined;
  function noteCommits(now: string | undefined): void {
    const before = differing;
    differing =
      now === undefined || now === commits
        ? undefined
        : `PostgreSQL has synchronous_commit = ${now} now; this service keeps ${commits} until its next start`;
    if (differing !== undefined && differing !== before) options.onDoubt?.(differing);
  }
  const common = {
    identities,
    observe: (made: Parameters<NonNullable<typeof onCommit>>[0]) => onCommit?.(made),
    onShort(cause: Error): void {
      short = { at: performance.now(), reason: cause.message };
    },
    onEffectError,
    ownerOf: options.ownerOf,
    vault,
  };
  // While the database is far away, a commit mostly waits for it. Then the next one begins a round trip later.
  const apartMs = (): number => {
    const roundTripMs = writer.current()?.roundTripMs() ?? Number.POSITIVE_INFINITY;
    return roundTripMs < FAR_MS ? Number.POSITIVE_INFINITY : roundTripMs;
  };
  const alone = createPostgresGroupCommit({ ...common, links: loners, isAlone: true, busy });
  const group = createPostgresGroupCommit({ ...common, links: writers, apartMs, busy });
  const later = createPostgresGroupCommit({ ...common, links: [background], busy });
  const queues = [later, alone, group];
  const queueOf = ({ device, pace }: UnitOptions): typeof group => {
    if (pace === 'soon') return later;
    return device === undefined && pace !== 'along' && pace !== 'crowd' ? alone : group;
  };
  /** Bounds the wait of callers. A unit whose caller has already been rejected is not run. */
  const transact: Transact = (work, options = {}) =>
    writing.bounded((isGivenUp) =>
      queueOf(options).transact((unit) => {
        if (isGivenUp()) throw new DomainError('DATABASE_UNAVAILABLE');
        return work(unit);
      }, options),
    );

  return {
    shared: true,
    lookAgainMs: LOOK_AGAIN_MS,
    sideBySide: true,
    roundTrips: true,
    statementsAtOnce: STATEMENTS_AT_ONCE,
    ownShare: OWN_SHARE,
    read,
    aside,
    prompt: createReading([healer], healing, vault),
    transact,
    decidedEvents: createDecidedEvents(read),
    async idle() {
      for (const queue of queues) await queue.idle();
    },
    // Units of `soon` have connections of their own here, so they wait for no commit of others.
    hurry: () => () => undefined,
    async size() {
      const row = await aside.get<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes');
      return { database: row?.bytes ?? 0, log: 0, free: 0 };
    },
    async seenAt(ask) {
      const before = known;
      if (!before) return;
      const at = await readIdentity(ask);
      if (changeOf(before, at)) links.renew(new Error('another connection has reached another database than this one'));
      else if (known === before) known = at;
    },
    doubt: () => differing,
    async healthy() {
      noteCommits(await checkAgain(read));
      if (performance.now() - short.at < SHORT_FOR_MS) throw new Error(`cannot be written: ${short.reason}`);
      return writer.current() !== undefined;
    },
    async close() {
      const waitBounds = [writing, reading, lasting, healing];
      if (writer.current()) for (const queue of queues) await queue.close();
      for (const waitBound of waitBounds) waitBound.end('the database is being closed');
      await links.close();
      for (const queue of queues) await queue.close();
      for (const waitBound of waitBounds) waitBound.close();
    },
  };
}

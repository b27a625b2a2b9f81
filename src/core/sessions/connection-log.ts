import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Database, Pace, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Ids, idsFrom } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import {
  type ConnectionFact,
  closeFact,
  countInFact,
  type EndReason,
  forgetFact,
  insertFact,
  keptSince,
  type RefusalReason,
  registeredOf,
} from './connection-log-repository.ts';

/** The most facts of a kind that are stored for a device in an hour; further ones are counted in the last of them. */
export const KEPT_PER_HOUR = 20;
const HOUR_MICROS = 3_600_000_000;
// Milliseconds in which facts are gathered, because a whole fleet can connect at once.
const GATHER_MS = 1_000;
const RETRY_MS = 15_000;
const DEVICES_PER_UNIT = 128;
/** The most facts that wait in memory (about 20 MB), while the database does not answer. Further ones are lost. */
const BOUND = 50_000;
/** The most of them that refused logins may fill, because strangers cause them: the rest is for connections of devices. */
const BOUND_OF_REFUSED = BOUND / 2;
const LONGEST_DETAIL = 200;
/** The prefix of fact ids. */
export const FACTS = 'con';

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Pick<Metrics, 'connectionFactsLost'>;
  /** The name of this process in node_lives. */
  nodeId(): string;
}

/** A recorded connection, until its end is recorded. */
export interface OpenedConnection {
  factId: string;
  at: number;
}

interface From {
  address: string;
  transport: string;
}

type Facts = [deviceId: string, facts: ConnectionFact[]];

export type ConnectionLog = ReturnType<typeof createConnectionLog>;

/**
 * Records when devices connected, why their connections ended, and which logins were refused. A login must not wait for
 * it, and a fleet that connects at once must not slow down the commits of others: facts are gathered for a second, and
 * stored together. A crash loses those of its last second. The rows that a device or a stranger causes are bounded: an hour has at
 * most KEPT_PER_HOUR rows of each kind for a device, and devices that are not registered have none.
 */
export function createConnectionLog({ database, clock, ids, log, metrics, nodeId }: Parts) {
  let gathered = new Map<string, ConnectionFact[]>();
  /** The recorded connections that ended, whose rows are stored already. */
  let closed: { deviceId: string; factId: string }[] = [];
  /** Facts whose unit failed. It may have been committed nevertheless, so what it stored is stored anew. */
  const unsure = new WeakSet<ConnectionFact>();
  let size = 0;
  let number = 0;
  let cancel: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  /** Whether to store once more, right after the write in progress. */
  let wanted = false;

  /** A fact id that sorts by time; those of one millisecond sort in the order of their facts. */
  function nextId(at: number): string {
    number = (number + 1) % 0x1_00_00_00;
    return `${idsFrom(FACTS, at)}${number.toString(16).padStart(6, '0')}${ids.bytes(4).toString('hex')}`;
  }

  function add(
    deviceId: string,
    kind: ConnectionFact['kind'],
    about: Partial<Pick<ConnectionFact, 'reason' | 'detail' | 'address' | 'transport' | 'since'>>,
  ): ConnectionFact {
    const at = clock.now();
    const fact = {
      deviceId,
      factId: nextId(at),
      kind,
      at,
      lastAt: at,
      count: 1,
      reason: null,
      detail: null,
      address: null,
      transport: null,
      since: null,
      nodeId: nodeId(),
      isOpen: kind === 'connected' ? 1 : 0,
      ...about,
    };
    gather(deviceId, fact);
    if (!cancel) arm(GATHER_MS);
    return fact;
  }

  function gather(deviceId: string, fact: ConnectionFact): void {
    const facts = gathered.get(deviceId) ?? [];
    const same = facts.filter(({ kind }) => kind === fact.kind);
    const last = same.at(-1);
    if (last && same.length >= KEPT_PER_HOUR) {
      last.count += fact.count;
      last.lastAt = fact.lastAt;
      return;
    }
    if (size >= (fact.kind === 'refused' ? BOUND_OF_REFUSED : BOUND)) {
      metrics.connectionFactsLost.inc();
      return;
    }
    size += 1;
    facts.push(fact);
    gathered.set(deviceId, facts);
  }

  function arm(milliseconds: number): void {
    cancel?.();
    cancel = clock.after(milliseconds, () => {
      cancel = undefined;
      if (writing) wanted = true;
      else void flush('soon');
    });
  }

  /** Begins to store what was gathered, and sets `writing` until that has ended. */
  function flush(pace: Pace): Promise<void> {
    if (size === 0 && closed.length === 0) return Promise.resolve();
    writing = writeAll(pace)
      .catch((err: unknown) => {
        if (!isDatabaseAway(err))
          log.error({ err }, 'facts about connections of devices could not be stored; trying again');
        arm(RETRY_MS);
      })
      .finally(() => {
        writing = undefined;
        if (wanted) void flush('soon');
        wanted = false;
      });
    return writing;
  }

  async function writeAll(pace: Pace): Promise<void> {
    // All units lock the rows in the same order, because two units with different orders could wait for each other.
    const batch: Facts[] = [...gathered].sort(([a], [b]) => (a < b ? -1 : 1));
    const ended = closed.sort((a, b) => (a.deviceId < b.deviceId ? -1 : 1));
    gathered = new Map();
    closed = [];
    size = 0;
    try {
      while (batch.length > 0) {
        await database.transact((unit) => write(unit, batch.slice(0, DEVICES_PER_UNIT)), { pace });
        batch.splice(0, DEVICES_PER_UNIT);
      }
      while (ended.length > 0) {
        const some = ended.slice(0, DEVICES_PER_UNIT);
        await database.transact(async (unit) => void (await Promise.all(some.map((one) => closeFact(unit, one)))), {
          pace,
        });
        ended.splice(0, DEVICES_PER_UNIT);
      }
    } catch (cause) {
      // The facts that were not stored come before those that were gathered meanwhile.
      for (const [, facts] of batch) for (const fact of facts) unsure.add(fact);
      const newer = gathered;
      gathered = new Map();
      size = 0;
      for (const [deviceId, facts] of [...batch, ...newer]) for (const fact of facts) gather(deviceId, fact);
      closed = [...ended, ...closed].slice(0, BOUND);
      throw cause;
    }
  }

  async function write(unit: UnitOfWork, batch: readonly Facts[]): Promise<void> {
    const deviceIds = batch.map(([deviceId]) => deviceId);
    const again = batch.flatMap(([, facts]) => facts.filter((fact) => unsure.has(fact)));
    await Promise.all(again.map((fact) => forgetFact(unit, fact)));
    const now = clock.now();
    const hour = idsFrom(FACTS, now - (now % HOUR_MICROS));
    const [registered, kept] = await Promise.all([registeredOf(unit, deviceIds), keptSince(unit, deviceIds, hour)]);
    const stored = new Map(kept.map((row) => [`${row.deviceId} ${row.kind}`, row]));
    const done: Promise<void>[] = [];
    for (const [deviceId, facts] of batch) {
      if (!registered.has(deviceId)) continue;
      for (const fact of facts) {
        const key = `${deviceId} ${fact.kind}`;
        const before = stored.get(key);
        if (before && before.facts >= KEPT_PER_HOUR) {
          done.push(countInFact(unit, before, fact));
          continue;
        }
        const { kind, factId } = fact;
        stored.set(key, { deviceId, kind, factId, facts: (before?.facts ?? 0) + 1 });
        done.push(insertFact(unit, fact));
      }
    }
    await Promise.all(done);
  }

  return {
    /** Records that a device has connected. Returns the connection, for `ended`. */
    connected(deviceId: string, { address, transport }: From): OpenedConnection {
      const { factId, at } = add(deviceId, 'connected', { address, transport });
      return { factId, at };
    },

    /** Records the end of a connection. `detail` may be a text of others. */
    ended(deviceId: string, { factId, at }: OpenedConnection, reason: EndReason, detail?: string): void {
      const waits = gathered.get(deviceId)?.find((fact) => fact.factId === factId);
      if (waits) waits.isOpen = 0;
      else if (closed.length < BOUND) closed.push({ deviceId, factId });
      add(deviceId, 'ended', { reason, detail: detail?.slice(0, LONGEST_DETAIL) ?? null, since: at });
    },

    /** Records that a login with the identifier of a device was refused. */
    refused(deviceId: string, reason: RefusalReason, { address, transport }: From): void {
      add(deviceId, 'refused', { reason, address, transport });
    },

    /** Resolves when no facts are being written. */
    async idle(): Promise<void> {
      while (writing) await writing;
    },

    async [Symbol.asyncDispose](): Promise<void> {
      cancel?.();
      while (writing) await writing;
      await flush('now'); // at shutdown no other commit comes that this could join
      cancel?.();
    },
  };
}

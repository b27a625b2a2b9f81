import type { Metrics } from '../../metrics.ts';
import { createBackgroundWork } from '../../platform/database/looks.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import { keyIdOf } from '../../platform/encryption/vault.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Micros, Millis } from '../../runtime/units.ts';
import { createPacing } from '../retention/pacing.ts';
import { removeSome } from '../retention/remove-some.ts';
import * as repository from './encryption-repository.ts';
import { SEALED_TABLES, type SealedTable } from './sealed-columns.ts';

type Rotation = repository.Rotation;

/** Milliseconds between two walks while there are values that cannot be read. */
const UNREADABLE_MS = 600_000;
const RETRY_MS = 3_000;
/** Milliseconds between two runs while other nodes lack the key, each of which lets them read their keys again. */
const WAITING_MS = 5_000;
/** Milliseconds between two looks while a node writes with another key. */
const USING_MS = 1_000;
/** Rows that one read fetches. */
const ROWS = 500;
/**
 * Microseconds after which no unit of work can store a value that was encrypted before the change of the key: a caller
 * waits for 5 s at most (`longestWaitMs`), and a unit without a caller takes less.
 */
const SETTLES_AFTER_MICROS = 15_000_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'encryptionRewritten'>;
  leads(): boolean;
  /** The nodes that lack a key, and those that do not write with it. */
  lacking(keyId: string): readonly string[];
  notWriting(keyId: string): readonly string[];
  /** Makes the key current, in the unit of work. */
  makeCurrent(unit: UnitOfWork, keyId: string): Promise<void>;
  /** Lets this node and all others read their keys again (`read`), or which of them is the current one (`use`). */
  tell(change: 'read' | 'use'): Promise<void>;
}

/**
 * Carries out a rotation, on the node that leads, in short units of work with pauses between them:
 * 1. waiting: until all nodes have the key;
 * 2. running: the key becomes the current one. When all nodes write with it, all values are walked through, and those by
 *    another key, or by none, are encrypted anew. The place is stored with the values, so a node that is killed loses
 *    nothing of the work;
 * 3. settling: a unit of work that began before the change can have stored a value later. So all values are walked through
 *    again when that has become impossible. Then the former keys are forgotten.
 */
export function createReEncryption({ database, clock, log, metrics, leads, ...parts }: Parts) {
  const { pace, isStopped, stop: stopPacing } = createPacing();
  const { start, wake, idle, stop } = createBackgroundWork({
    clock,
    log,
    run: look,
    retryMs: RETRY_MS,
    failed: 'the rotation of the encryption key could not go on; trying again',
  });
  /** The places of values that cannot be read, as the present walk has found them; see `advance`. */
  const unreadable = new Set<string>();
  const goesOn = (): boolean => !isStopped() && leads();

  /** Stores the changed members of a rotation, unless another one was asked for meanwhile. */
  async function save(rotation: Rotation, change: Partial<Rotation>, also?: (unit: UnitOfWork) => Promise<void>) {
    return database.transact(
      async (unit) => {
        await repository.lockEncryption(unit);
        const stored = await repository.findRotation(unit);
        if (stored?.keyId !== rotation.keyId || stored.requestedAt !== rotation.requestedAt) return undefined;
        await also?.(unit);
        const saved = { ...stored, ...change };
        await repository.saveRotation(unit, saved);
        return saved;
      },
      { pace: 'soon' },
    );
  }

  /** Encrypts the values of some rows anew, in one unit of work. */
  async function step(sealed: SealedTable, stale: readonly repository.SealedRow[]) {
    const work = (rows: readonly repository.SealedRow[]) => (unit: UnitOfWork) =>
      removeSome(database, unit, rows, async (_, row) => {
        let changed = 0;
        for (const value of row.values) {
          const rewritten = await repository.rewrite(unit, sealed, row, value);
          if (rewritten === undefined) unreadable.add(JSON.stringify([sealed.table, value.column, ...row.row]));
          changed += rewritten ?? 0;
        }
        return changed;
      });
    if (!database.sideBySide || sealed.together === 'many') return database.transact(work(stale), { pace: 'soon' });
    if (sealed.together === 'one') return database.transact(work(stale.slice(0, 1)), { pace: 'soon' });
    const [deviceId] = stale[0]?.key ?? [];
    const end = stale.findIndex(({ key }) => key[0] !== deviceId);
    return database.transact(work(stale.slice(0, end === -1 ? stale.length : end)), {
      device: String(deviceId),
      pace: 'along',
    });
  }

  /** Walks through all values from the stored place on. Returns the rotation; undefined when the work must end. */
  async function walk(from: Rotation): Promise<Rotation | undefined> {
    let rotation = from;
    const at = SEALED_TABLES.findIndex(({ table }) => table === from.place?.table);
    for (const [index, sealed] of SEALED_TABLES.entries()) {
      if (index < at) continue;
      let after = index === at ? from.place?.key : undefined;
      for (let more = true; more; ) {
        if (!goesOn()) return undefined;
        const startedAt = performance.now();
        const rows = await repository.nextRows(database.aside, sealed, after, ROWS);
        more = rows.length === ROWS;
        if (!(await pace((performance.now() - startedAt) * database.ownShare))) return undefined;
        const stale = rows
          .map((row) => ({ ...row, values: row.values.filter(({ stored }) => keyIdOf(stored) !== from.keyId) }))
          .filter(({ values }) => values.length > 0);
        for (let taken = 0; taken < stale.length; ) {
          const done = await step(sealed, stale.slice(taken));
          taken += done.taken;
          const rewritten = done.removed.reduce((sum, changed) => sum + changed, 0);
          metrics.encryptionRewritten.inc(rewritten);
          const place = { table: sealed.table, key: stale[taken - 1]?.key ?? [] };
          const saved = await save(rotation, { place, rewritten: rotation.rewritten + rewritten });
          if (!saved || !(await pace(done.worked * database.ownShare))) return undefined;
          rotation = saved;
        }
        after = rows.at(-1)?.key;
      }
    }
    return rotation;
  }

  async function look(): Promise<Millis> {
    for (;;) {
      const next = await advance();
      if (next !== 'again') return next;
      if (!goesOn()) return Number.POSITIVE_INFINITY;
    }
  }

  /** Takes the rotation further. Resolves to the milliseconds until the next look. */
  async function advance(): Promise<Millis | 'again'> {
    const rotation = leads() ? await repository.findRotation(database.read) : undefined;
    if (!rotation || rotation.state === 'ended') return database.lookAgainMs;
    const { keyId } = rotation;
    if (rotation.state === 'waiting') {
      if (parts.lacking(keyId).length > 0) {
        await parts.tell('read');
        return WAITING_MS;
      }
      const change = { state: 'running', startedAt: clock.now(), place: null } as const;
      await save(rotation, change, (unit) => parts.makeCurrent(unit, keyId));
      await parts.tell('use');
      return 'again';
    }
    if (parts.notWriting(keyId).length > 0) {
      await parts.tell('use');
      return USING_MS;
    }
    const left = rotation.state === 'settling' ? (rotation.settlesAt ?? 0) - clock.now() : 0;
    if (left > 0) return Math.ceil(left / 1000);
    unreadable.clear();
    const walked = await walk(rotation);
    if (!walked) return database.lookAgainMs;
    if (unreadable.size > 0) {
      // All others are encrypted anew. The former key is not forgotten, because somebody may want to look at these.
      const places = [...unreadable].slice(0, 10);
      log.error(
        { places, count: unreadable.size },
        'secrets that were changed outside of the service hold up a rotation',
      );
      await save(walked, { place: null });
      return UNREADABLE_MS;
    }
    if (rotation.state === 'running') {
      const settlesAt = (clock.now() + SETTLES_AFTER_MICROS) as Micros;
      await save(walked, { state: 'settling', settlesAt, place: null });
    } else {
      // The key of the object store is outside of the database: while it cannot follow, no former key may be forgotten.
      await parts.tell('use');
      await save(walked, { state: 'ended', endedAt: clock.now(), place: null }, repository.forgetFormer);
      log.info({ keyId, rewritten: walked.rewritten }, 'all secrets at rest are encrypted with one key');
    }
    return 'again';
  }

  return {
    start,
    wake,
    idle,
    async stop(): Promise<void> {
      stopPacing();
      await stop();
    },
  };
}

import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Database } from '../database/sql.ts';
import type { Nodes } from './nodes.ts';
import * as repository from './owner-repository.ts';

/** A device that is connected to this node. */
export interface Held {
  epoch: number;
  /**
   * The name of this node in the device's row. It differs from the present name while a new name is not written yet.
   */
  nodeId: string;
  /** Ends the connection, without carrying out its will. */
  end(): void;
}

/** The most rows of devices that one query reads. */
const PAGE = 2_000;
/**
 * Microseconds in which a transaction may be committed after one with a higher number. A unit of work takes at most some
 * five seconds.
 */
const LATE = 20_000_000;

interface Parts {
  database: Database;
  clock: Pick<Clock, 'now'>;
  nodes: Pick<Nodes, 'id' | 'mayAct'>;
  /** The devices that are connected to this node. */
  held: ReadonlyMap<string, Held>;
  /** Closes the connection of a device that is connected elsewhere. */
  superseded(deviceId: string, one: Held): void;
  /** Stores that a connection with this epoch has ended. */
  release(deviceId: string, epoch: number): Promise<void>;
}

/** Looks in the database for what this node was not told about its devices, because the hints were lost. */
export function createOwnerCheck({ database, clock, nodes, held, superseded, release }: Parts) {
  /** Rows that name this node although the device has no connection here, as the last comparison found them. */
  let strays = new Map<string, number>();
  /** The highest transactionIds that checks have found, with the times at which they looked. */
  let marks: { at: Micros; newest: number }[] = [];

  /** Calls `found` for devices with due transactions above a number. */
  async function findNew(found: (due: repository.DueOfDevice) => void, above: number): Promise<void> {
    const nodeId = nodes.id();
    const all = new Map<string, repository.DueOfDevice>();
    for (let after: number | undefined = above; after !== undefined; ) {
      const rows: repository.DueOfDevice[] = await repository.dueBehind(database.prompt, nodeId, after, PAGE);
      for (const row of rows)
        all.set(row.deviceId, { ...row, cancels: row.cancels || all.get(row.deviceId)?.cancels === true });
      after = rows.length === PAGE ? rows.at(-1)?.newest : undefined;
    }
    for (const due of all.values()) if (held.get(due.deviceId)?.epoch === due.epoch) found(due);
  }

  /**
   * Compares the connections of this node with the database, and calls `found` for devices with due transactions. A
   * connection is closed when the database no longer names this node for its device. A row that names this node without
   * a connection is released only when two comparisons in a row find it, because a login may be in progress during the
   * first.
   */
  async function compare(found: (due: repository.DueOfDevice) => void): Promise<void> {
    const nodeId = nodes.id();
    const before = new Map([...held].filter(([, one]) => one.nodeId === nodeId));
    const seen = new Set<string>();
    const unheld = new Map<string, number>();
    let after: string | undefined = '';
    while (after !== undefined) {
      const rows: repository.Owned[] = await repository.ownedBy(database.prompt, nodeId, after, PAGE);
      for (const { deviceId, epoch, newest, cancels } of rows) {
        const one = held.get(deviceId);
        seen.add(deviceId);
        if (!one) unheld.set(deviceId, epoch);
        else if (one.epoch === epoch && newest !== null) found({ deviceId, epoch, newest, cancels: cancels === true });
      }
      after = rows.length === PAGE ? rows.at(-1)?.deviceId : undefined;
    }
    if (nodeId !== nodes.id() || !nodes.mayAct()) return;
    for (const [deviceId, one] of before)
      if (!seen.has(deviceId) && held.get(deviceId) === one) superseded(deviceId, one);
    for (const [deviceId, epoch] of unheld)
      if (strays.get(deviceId) === epoch && !held.has(deviceId)) void release(deviceId, epoch);
    strays = unheld;
  }

  return {
    /**
     * Calls `found` for each connected device with due transactions: with new ones only, or with all of them if
     * `isThorough`.
     */
    async look(found: (due: repository.DueOfDevice) => void, isThorough: boolean): Promise<void> {
      const at = clock.now();
      const newest = await repository.newestTransaction(database.prompt);
      // What was committed late had to be visible to the former check.
      const former = marks.at(-1)?.at ?? at;
      const mark = marks.findLast((one) => former - one.at >= LATE);
      if (isThorough || mark === undefined) await compare(found);
      else await findNew(found, mark.newest);
      marks = [...marks.filter((one) => one.at >= (mark?.at ?? 0)), { at, newest }];
    },

    /** To be called when the database was replaced: the numbers of the other one may be lower. */
    startOver(): void {
      marks = [];
    },
  };
}

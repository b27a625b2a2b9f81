import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Database, UnitOfWork } from '../database/sql.ts';
import type { Bus } from './bus.ts';
import type { Nodes } from './nodes.ts';
import * as repository from './owner-repository.ts';
import { Superseded } from './superseded.ts';

/**
 * Called in a unit of work that writes a message of a connection: throws Superseded when the device has a newer
 * connection, so that the unit is rolled back.
 */
export type Fence = (unit: UnitOfWork) => Promise<void>;

/** Writes this node's new name into all rows that hold its old one. */
export type Renaming = (unit: UnitOfWork, from: string, to: string) => Promise<unknown>;

/** A device that is connected to this node. */
interface Held {
  epoch: number;
  /**
   * The name of this node in the device's row. It differs from the present name while a new name is not written yet.
   */
  nodeId: string;
  /** Ends the connection, without carrying out its will. */
  end(): void;
}

interface Parts {
  database: Database;
  clock: Pick<Clock, 'now'>;
  nodes: Nodes;
  bus: Bus;
  log: Log;
  metrics: Pick<Metrics, 'clusterFenced'>;
}

/** The most rows of devices that one query reads. */
const PAGE = 2_000;
/**
 * Microseconds in which a transaction may be committed after one with a higher number. A unit of work takes at most some
 * five seconds.
 */
const LATE = 20_000_000;

export type Ownership = ReturnType<typeof createOwnership>;

/**
 * Records to which node a device is connected. A login takes the device in its unit of work, under the device's lock,
 * with an epoch that was never used before. From that commit on, every write of a connection with an earlier epoch is
 * refused, whichever node makes it and however late. So nobody has to wait for a node that is dead or frozen; the
 * former node is told to close its connection only so that it ends sooner.
 */
export function createOwnership({ database, clock, nodes, bus, log, metrics }: Parts) {
  const held = new Map<string, Held>();
  /** Rows that name this node although the device has no connection here, as the last comparison found them. */
  let strays = new Map<string, number>();
  /** Connections that have ended, and whose end could not be stored yet. */
  const unreleased = new Map<string, number>();
  /** The highest transactionIds that checks have found, with the times at which they looked; see `heal`. */
  let marks: { at: Micros; newest: number }[] = [];
  const work = createWork();
  const renaming: Renaming[] = [];
  let leaving = false;

  function end(deviceId: string, { end: close }: Held): void {
    held.delete(deviceId);
    close();
  }

  function superseded(deviceId: string, one: Held): void {
    metrics.clusterFenced.inc();
    log.debug({ deviceId, epoch: one.epoch }, 'a device is connected elsewhere: its connection here is closed');
    end(deviceId, one);
  }

  function tellFormer(unit: UnitOfWork, deviceId: string, formerId: string | null, epoch: number): void {
    if (formerId === null || formerId === nodes.id()) return;
    unit.onCommit(() => bus.send(formerId, { kind: 'close', about: `${deviceId} ${epoch}` }));
  }

  async function takeIn(unit: UnitOfWork, deviceId: string, close: () => void) {
    const nodeId = nodes.id();
    const { epoch, formerId } = await repository.takeDevice(unit, deviceId, nodeId);
    unit.onCommit(() => {
      const one: Held = { epoch, nodeId, end: close };
      held.set(deviceId, one);
      if (nodeId !== nodes.id() || !nodes.mayAct()) end(deviceId, one); // the lease was lost meanwhile
    });
    tellFormer(unit, deviceId, formerId, epoch);
    return { epoch, fromOther: formerId !== null && formerId !== nodeId && nodes.isLive(formerId) };
  }

  async function release(deviceId: string, epoch: number): Promise<void> {
    work.begun();
    try {
      await database.transact((unit) => repository.releaseDevice(unit, deviceId, epoch), {
        device: deviceId,
        pace: 'crowd',
      });
    } catch (err) {
      unreleased.set(deviceId, epoch);
      log.debug(
        { err, deviceId },
        'the end of a connection could not be stored; the next check for lost hints stores it',
      );
    } finally {
      work.ended();
    }
  }

  /** After this node has got a new name: writes it into the rows of the devices whose connections were kept. */
  async function rename(): Promise<void> {
    const nodeId = nodes.id();
    const kept = [...held.values()].filter((one) => one.nodeId !== nodeId);
    for (const formerId of new Set(kept.map((one) => one.nodeId)))
      await database.transact(async (unit) => {
        await repository.renameOwner(unit, formerId, nodeId);
        for (const also of renaming) await also(unit, formerId, nodeId);
      });
    for (const one of kept) one.nodeId = nodeId;
  }

  /**
   * After a hint that a device has moved: reads the epoch of the device, and ends its connection here if that has an
   * older epoch.
   */
  async function checkMoved(deviceId: string): Promise<void> {
    const one = held.get(deviceId);
    if (!one) return;
    const epoch = await repository.findEpoch(database.prompt, deviceId);
    if (epoch !== one.epoch && held.get(deviceId) === one) superseded(deviceId, one);
  }

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

  bus.on('close', (about) => {
    const [deviceId = '', epoch] = about.split(' ');
    const one = held.get(deviceId);
    if (!one || one.epoch >= Number(epoch)) return;
    work.begun();
    checkMoved(deviceId)
      .catch((err: unknown) =>
        log.debug({ err, deviceId }, 'the node of a device could not be read; the next check for lost hints reads it'),
      )
      .finally(work.ended);
  });
  nodes.onCut(() => {
    // A node that is alone keeps its connections, because no other node can have taken their devices.
    if (nodes.count() === 1) return;
    if (held.size > 0)
      log.warn(
        { devices: held.size },
        'the lease was lost and the database is away: connections are closed, so that the devices go to other nodes',
      );
    for (const [deviceId, one] of held) end(deviceId, one);
  });

  return {
    /**
     * In the unit of a login, under the device's lock: assigns the device to this node, from the commit on. `close` ends the
     * connection without its will. Returns the epoch, and whether the device was taken from another live node.
     */
    take(unit: UnitOfWork, deviceId: string, close: () => void): Promise<{ epoch: number; fromOther: boolean }> {
      if (!nodes.mayAct()) throw new Error('this node has no lease, so no device can log in');
      return takeIn(unit, deviceId, close);
    },

    /** To be called when the connection with this epoch has ended. */
    left(deviceId: string, epoch: number): void {
      const isHeld = held.get(deviceId)?.epoch === epoch;
      if (isHeld) held.delete(deviceId);
      if (leaving) return;
      if (nodes.mayAct()) void release(deviceId, epoch);
      else if (isHeld) unreleased.set(deviceId, epoch); // a late lease may go on, and this row would name a live node
    },

    /**
     * In a unit of work after which the device may not stay connected: refuses further writes of its connection, and
     * ends it.
     */
    async revoke(unit: UnitOfWork, deviceId: string): Promise<void> {
      const { epoch, formerId } = await repository.takeDevice(unit, deviceId, null);
      unit.onCommit(() => {
        const one = held.get(deviceId);
        if (one && one.epoch < epoch) end(deviceId, one);
      });
      tellFormer(unit, deviceId, formerId, epoch);
    },

    /** In the unit that removes a device: deletes its row. Epochs are not used again. */
    remove: repository.deleteOwner as (unit: UnitOfWork, deviceId: string) => Promise<number>,

    /** Makes the check of a connection: it lets a unit of work pass only while the device still has this epoch. */
    fence:
      (deviceId: string, epoch: number): Fence =>
      async (unit) => {
        if ((await repository.findEpoch(unit, deviceId)) === epoch) return;
        unit.onRollback(() => {
          const one = held.get(deviceId);
          if (one?.epoch === epoch) superseded(deviceId, one);
        });
        throw new Superseded();
      },

    /**
     * In a unit of work: the node that has the device, and whether a command after the given transaction is due for it.
     */
    look: (unit: UnitOfWork, deviceId: string, after: number): Promise<repository.Owner | undefined> =>
      repository.findOwner(unit, deviceId, after),

    /** Called when a unit finds that a device has a newer connection than the one here. */
    lost(deviceId: string, epoch: number): void {
      const one = held.get(deviceId);
      if (one?.epoch === epoch) superseded(deviceId, one);
    },

    /** After the commit of a command or a cancel: tells the device's node that it is due. */
    wake(deviceId: string, { nodeId }: { nodeId: string | null }, kind: 'wake' | 'cancel'): void {
      if (nodeId !== null) bus.send(nodeId, { kind, about: deviceId });
    },

    /** Returns those of the given devices that are connected to a live node. */
    async connected(deviceIds: readonly string[]): Promise<ReadonlySet<string>> {
      const owners = deviceIds.length === 0 ? [] : await repository.ownersOf(database.read, deviceIds);
      return new Set(owners.filter(({ nodeId }) => nodes.isLive(nodeId)).map(({ deviceId }) => deviceId));
    },

    /** All connected devices; undefined when there are more than `most`. */
    async connectedIds(most: number): Promise<string[] | undefined> {
      const live = nodes.live().map(({ nodeId }) => nodeId);
      const deviceIds = await repository.ownedByAny(database.read, live, most + 1);
      return deviceIds.length > most ? undefined : deviceIds;
    },

    /** The number of devices that are connected, to whichever node. */
    connectedCount: (): Promise<number> =>
      repository.countOwnedByAny(
        database.aside,
        nodes.live().map(({ nodeId }) => nodeId),
      ),

    /** The node to which a device is connected; null when it is not connected. */
    async nodeOf(deviceId: string): Promise<string | null> {
      const [owner] = await repository.ownersOf(database.read, [deviceId]);
      return owner && nodes.isLive(owner.nodeId) ? owner.nodeId : null;
    },

    /**
     * Looks in the database for work whose hints were lost. `found` is called for each connected device with due
     * transactions: with new ones only, or with all of them if `isThorough`.
     */
    async heal(found: (due: repository.DueOfDevice) => void, isThorough: boolean): Promise<void> {
      if (!nodes.mayAct()) return;
      await rename();
      for (const [deviceId, epoch] of unreleased) {
        unreleased.delete(deviceId);
        void release(deviceId, epoch);
      }
      const at = clock.now();
      const newest = await repository.newestTransaction(database.prompt);
      // What was committed late had to be visible to the former check.
      const former = marks.at(-1)?.at ?? at;
      const mark = marks.findLast((one) => former - one.at >= LATE);
      if (isThorough || mark === undefined) await compare(found);
      else await findNew(found, mark.newest);
      marks = [...marks.filter((one) => one.at >= (mark?.at ?? 0)), { at, newest }];
    },

    /**
     * Ends every connection of this node, because the devices may have got messages from a database that no longer exists.
     */
    endAll(): void {
      marks = []; // the numbers of the other database may be lower
      for (const [deviceId, one] of held) end(deviceId, one);
    },

    rename,
    /** Adds a function that writes this node's new name into further rows, in the same unit of work. */
    whenRenamed: (also: Renaming): void => void renaming.push(also),

    /** The number of devices that are connected to this node. */
    size: (): number => held.size,
    has: (deviceId: string): boolean => held.has(deviceId),
    /** The devices of this node, the earliest connected first. */
    deviceIds: (): Iterable<string> => held.keys(),
    /** Ends the connection of a device, so that it connects again, to any node. `prepare` runs before. */
    async handOver(deviceId: string, prepare: (deviceId: string, epoch: number) => Promise<unknown>): Promise<void> {
      const one = held.get(deviceId);
      if (!one) return;
      work.begun();
      try {
        await prepare(deviceId, one.epoch);
        if (held.get(deviceId) === one) end(deviceId, one);
      } catch (err) {
        log.debug({ err, deviceId }, 'a device could not be handed over; it stays connected here');
      } finally {
        work.ended();
      }
    },
    /** Called when the node is about to stop: its row is then deleted, which releases all of its devices at once. */
    leave(): void {
      leaving = true;
    },
    idle: work.idle,
  };
}

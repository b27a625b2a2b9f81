import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { Database, UnitOfWork } from '../database/sql.ts';
import type { Bus } from './bus.ts';
import { createConnectedDevices } from './connected-devices.ts';
import type { Nodes } from './nodes.ts';
import { createOwnerCheck, type Held } from './owner-check.ts';
import * as repository from './owner-repository.ts';
import { Superseded } from './superseded.ts';

/**
 * Called in a unit of work that writes a message of a connection: throws Superseded when the device has a newer
 * connection, so that the unit is rolled back.
 */
export type Fence = (unit: UnitOfWork) => Promise<void>;

/** Writes this node's new name into all rows that hold its old one. */
export type Renaming = (unit: UnitOfWork, from: string, to: string) => Promise<unknown>;

interface Parts {
  database: Database;
  clock: Pick<Clock, 'now'>;
  nodes: Nodes;
  bus: Bus;
  log: Log;
  metrics: Pick<Metrics, 'clusterFenced'>;
}

export type Ownership = ReturnType<typeof createOwnership>;

/**
 * Records to which node a device is connected. A login takes the device in its unit of work, under the device's lock,
 * with an epoch that was never used before. From that commit on, every write of a connection with an earlier epoch is
 * refused, whichever node makes it and however late. So nobody has to wait for a node that is dead or frozen; the
 * former node is told to close its connection only so that it ends sooner.
 */
export function createOwnership({ database, clock, nodes, bus, log, metrics }: Parts) {
  const held = new Map<string, Held>();
  /** Connections that have ended, and whose end could not be stored yet. */
  const unreleased = new Map<string, number>();
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

  const check = createOwnerCheck({ database, clock, nodes, held, superseded, release });

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

    /** After the commit of a command or a cancel: tells the device's node. */
    wake(deviceId: string, { nodeId }: { nodeId: string | null }, kind: 'wake' | 'crossed' | 'cancel'): void {
      if (nodeId !== null) bus.send(nodeId, { kind, about: deviceId });
    },

    ...createConnectedDevices({ database, nodes }),

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
      await check.look(found, isThorough);
    },

    /**
     * Ends every connection of this node, because the devices may have got messages from a database that no longer exists.
     */
    endAll(): void {
      check.startOver();
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

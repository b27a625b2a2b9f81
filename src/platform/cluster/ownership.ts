import type { Metrics } from '../../metrics.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { Database, UnitOfWork } from '../database/sql.ts';
import type { Bus } from './bus.ts';
import type { Nodes } from './nodes.ts';
import * as repository from './owner-repository.ts';
import { Superseded } from './superseded.ts';

/** Called in a unit of work that writes what a connection said: throws Superseded when that is not the device's any more. */
export type Fence = (unit: UnitOfWork) => Promise<void>;

/** Gives what has the one name of this node the other. */
export type Renaming = (unit: UnitOfWork, from: string, to: string) => Promise<unknown>;

/** A device as this node has it. */
interface Held {
  epoch: number;
  /** The name of this node that the device has in the database. */
  nodeId: string;
  /** Ends the connection; its will is not carried out by it. */
  end(): void;
}

interface Parts {
  database: Database;
  nodes: Nodes;
  bus: Bus;
  log: Log;
  metrics: Pick<Metrics, 'clusterFenced'>;
}

/** Rows that one look reads at once. */
const PAGE = 2_000;

export type Ownership = ReturnType<typeof createOwnership>;

/**
 * Which node a device is connected to. A login takes the device in its unit of work, under the lock of the device, with an
 * epoch that nobody ever had: from its commit on, whatever is written in the name of an earlier epoch is refused, wherever it
 * comes from and however late. So nobody has to wait for a node that is dead or frozen; that the former owner is told to
 * close its connection is a kindness.
 */
export function createOwnership({ database, nodes, bus, log, metrics }: Parts) {
  const held = new Map<string, Held>();
  /** Rows of this node that nobody holds, as of the last look: see heal. */
  let strays = new Map<string, number>();
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

  async function release(deviceId: string, epoch: number): Promise<void> {
    work.begun();
    try {
      await database.transactInCrowd((unit) => repository.releaseDevice(unit, deviceId, epoch), deviceId);
    } catch (err) {
      log.debug({ err, deviceId }, 'a device that left could not be let go; the next look does it');
    } finally {
      work.ended();
    }
  }

  /** A node that has another name, and has kept its connections, has them under the new name. */
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

  /** Somebody says that a device is connected elsewhere: it is believed when the database says so. */
  async function believe(deviceId: string): Promise<void> {
    const one = held.get(deviceId);
    if (!one) return;
    const epoch = await repository.findEpoch(database.prompt, deviceId);
    if (epoch !== one.epoch && held.get(deviceId) === one) superseded(deviceId, one);
  }

  bus.on('close', (about) => {
    const [deviceId = '', epoch] = about.split(' ');
    const one = held.get(deviceId);
    if (!one || one.epoch >= Number(epoch)) return;
    work.begun();
    believe(deviceId)
      .catch((err: unknown) =>
        log.debug({ err, deviceId }, 'the owner of a device could not be looked at; the next look does it'),
      )
      .finally(work.ended);
  });
  nodes.onLost(() => {
    // A node that was alone keeps its devices: nobody else could have them.
    if (nodes.count() === 1) return;
    if (held.size > 0) log.warn({ devices: held.size }, 'the connections of devices are closed: others may have them');
    for (const [deviceId, one] of held) end(deviceId, one);
  });

  return {
    /**
     * In the unit of a login, under the lock of the device: it is this node's, from the commit on. `close` ends the
     * connection without its will. Answers the epoch, and whether it was taken from another node that lives.
     */
    async take(unit: UnitOfWork, deviceId: string, close: () => void): Promise<{ epoch: number; fromOther: boolean }> {
      const nodeId = nodes.id();
      if (!nodes.mayAct()) throw new Error('this node has no lease: nobody can log in');
      const { epoch, formerId } = await repository.takeDevice(unit, deviceId, nodeId);
      unit.onCommit(() => {
        const one: Held = { epoch, nodeId, end: close };
        held.set(deviceId, one);
        if (nodeId !== nodes.id() || !nodes.mayAct()) end(deviceId, one); // lost meanwhile
      });
      tellFormer(unit, deviceId, formerId, epoch);
      return { epoch, fromOther: formerId !== null && formerId !== nodeId && nodes.isLive(formerId) };
    },

    /** The connection of that epoch has ended. */
    left(deviceId: string, epoch: number): void {
      if (held.get(deviceId)?.epoch === epoch) held.delete(deviceId);
      if (!leaving && nodes.mayAct()) void release(deviceId, epoch);
    },

    /** In a unit that ends a device's right to its connection: whatever has it may write nothing more. */
    async revoke(unit: UnitOfWork, deviceId: string): Promise<void> {
      const { epoch, formerId } = await repository.takeDevice(unit, deviceId, null);
      unit.onCommit(() => {
        const one = held.get(deviceId);
        if (one && one.epoch < epoch) end(deviceId, one);
      });
      tellFormer(unit, deviceId, formerId, epoch);
    },

    /** In the unit in which a device is removed: nobody had its epoch, and nobody will. */
    remove: repository.deleteOwner as (unit: UnitOfWork, deviceId: string) => Promise<number>,

    /** What a connection says is taken while it has the device. */
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

    /** In a unit: who has the device, and whether something is due for it behind a transaction. */
    look: (unit: UnitOfWork, deviceId: string, after: number): Promise<repository.Owner | undefined> =>
      repository.findOwner(unit, deviceId, after),

    /** A connection here turned out to be no more the device's. */
    lost(deviceId: string, epoch: number): void {
      const one = held.get(deviceId);
      if (one?.epoch === epoch) superseded(deviceId, one);
    },

    /** After the commit: something is due for a device of another node. */
    wake(deviceId: string, { nodeId }: { nodeId: string | null }, kind: 'wake' | 'cancel'): void {
      if (nodeId !== null) bus.send(nodeId, { kind, about: deviceId });
    },

    /** Which of these devices are connected to a node that lives. */
    async connected(deviceIds: readonly string[]): Promise<ReadonlySet<string>> {
      const owners = deviceIds.length === 0 ? [] : await repository.ownersOf(database.read, deviceIds);
      return new Set(owners.filter(({ nodeId }) => nodes.isLive(nodeId)).map(({ deviceId }) => deviceId));
    },

    /** All of them; undefined when there are more than `most`. */
    async connectedIds(most: number): Promise<string[] | undefined> {
      const live = nodes.live().map(({ nodeId }) => nodeId);
      const deviceIds = await repository.ownedByAny(database.read, live, most + 1);
      return deviceIds.length > most ? undefined : deviceIds;
    },

    /** How many devices are connected, to whichever node. */
    connectedCount: (): Promise<number> =>
      repository.countOwnedByAny(
        database.aside,
        nodes.live().map(({ nodeId }) => nodeId),
      ),

    /** The node that a device is connected to; null when it is connected nowhere. */
    async nodeOf(deviceId: string): Promise<string | null> {
      const [owner] = await repository.ownersOf(database.read, [deviceId]);
      return owner && nodes.isLive(owner.nodeId) ? owner.nodeId : null;
    },

    /**
     * Holds what this node has against the database, after hints that may have been lost: `found` is told what is due for
     * each device; connections that are not their device's any more are closed, and rows of devices that left let go (when
     * two looks find them: one may have been taken in this moment).
     */
    async heal(found: (owned: repository.Owned) => void): Promise<void> {
      if (!nodes.mayAct()) return;
      await rename();
      const nodeId = nodes.id();
      const before = new Map([...held].filter(([, one]) => one.nodeId === nodeId));
      const seen = new Set<string>();
      const unheld = new Map<string, number>();
      let after: string | undefined = '';
      while (after !== undefined) {
        const rows: repository.Owned[] = await repository.ownedBy(database.prompt, nodeId, after, PAGE);
        for (const row of rows) {
          const one = held.get(row.deviceId);
          seen.add(row.deviceId);
          if (one?.epoch === row.epoch) found(row);
          else if (!one) unheld.set(row.deviceId, row.epoch);
        }
        after = rows.length === PAGE ? rows.at(-1)?.deviceId : undefined;
      }
      if (nodeId !== nodes.id() || !nodes.mayAct()) return;
      for (const [deviceId, one] of before)
        if (!seen.has(deviceId) && held.get(deviceId) === one) superseded(deviceId, one);
      for (const [deviceId, epoch] of unheld)
        if (strays.get(deviceId) === epoch && !held.has(deviceId)) void release(deviceId, epoch);
      strays = unheld;
    },

    /** Every connection here ends: what it was told may be of a database that is no more. */
    endAll(): void {
      for (const [deviceId, one] of held) end(deviceId, one);
    },

    rename,
    /** In the unit in which what this node kept gets its new name. */
    whenRenamed: (also: Renaming): void => void renaming.push(also),

    /** Devices that this node holds. */
    size: (): number => held.size,
    has: (deviceId: string): boolean => held.has(deviceId),
    /** Those that have been here longest first. */
    deviceIds: (): Iterable<string> => held.keys(),
    /** The connection of a device ends: it may come to any node. */
    async handOver(deviceId: string, prepare: (deviceId: string, epoch: number) => Promise<unknown>): Promise<void> {
      const one = held.get(deviceId);
      if (!one) return;
      work.begun();
      try {
        await prepare(deviceId, one.epoch);
        if (held.get(deviceId) === one) end(deviceId, one);
      } catch (err) {
        log.debug({ err, deviceId }, 'a device could not be handed over; it stays');
      } finally {
        work.ended();
      }
    },
    /** The node is about to go: its row goes, and with it all that it has. */
    leave(): void {
      leaving = true;
    },
    idle: work.idle,
  };
}

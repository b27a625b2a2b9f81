import type { LimitShares } from '../../runtime/token-buckets.ts';
import type { UnitOfWork } from '../database/sql.ts';
import type { Bus } from './bus.ts';
import type { Cluster } from './cluster.ts';
import type { KnownNode } from './node-rows.ts';
import type { Nodes } from './nodes.ts';
import type { Owner } from './owner-repository.ts';
import type { ReceiverShare } from './partitions.ts';
import type { HintWorkers } from './serve-hints.ts';

/** The connections of devices to this process, as its broker knows them. */
export interface ConnectionsHere {
  isConnected(deviceId: string): boolean;
  /** The connected devices; undefined when there are more than `most`. */
  connectedIds(most: number): string[] | undefined;
  connectedCount(): number;
}

/** Which node has which device, for the core and the views. */
export interface DeviceOwnership {
  /**
   * In a unit of work: the node that has the device, and whether a command after the transaction `after` is due for it.
   */
  look(unit: UnitOfWork, deviceId: string, after: number): Promise<Owner | undefined>;
  /**
   * After a commit: tells the node of a device that a command (`wake`) or a cancel is due for it, and that the command came
   * by a call to this node (`crossed`).
   */
  wake(deviceId: string, owner: { nodeId: string | null }, kind: 'wake' | 'crossed' | 'cancel'): void;
  /** To be called when a write was refused because the device has a newer connection: ends the connection here. */
  lost(deviceId: string, epoch: number): void;
  /** To be called in the unit of work that deletes a device. */
  remove(unit: UnitOfWork, deviceId: string): Promise<unknown>;
  /** Returns those of the given devices that are connected to any node. */
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** All connected devices; undefined when there are more than `most`. */
  connectedIds(most: number): string[] | undefined | Promise<string[] | undefined>;
  /** How many devices are connected, to any node. */
  connectedCount(): number | Promise<number>;
  /** The node that a device is connected to; null when it is connected nowhere, or there is one node only. */
  nodeOf(deviceId: string): Promise<string | null>;
  /** To be called when the node is about to stop. */
  leave(): void;
}

/**
 * Everything that the service asks of the other nodes at its database. A process without other nodes has `createAlone`.
 */
export interface Peers {
  /** The cluster; undefined for a process that is alone at its database. */
  readonly cluster: Cluster | undefined;
  readonly nodes: Pick<Nodes, 'count' | 'leads' | 'encryption' | 'told'> & { id(): string };
  /** The nodes that live, and those that ended without a word within a day; empty for a process that is alone. */
  known(): Promise<KnownNode[]>;
  readonly bus: Pick<Bus, 'broadcast' | 'on' | 'onGap'>;
  readonly ownership: DeviceOwnership;
  readonly partitions: ReceiverShare;
  /** How nodes share a limit; undefined for a process that is alone, which has each limit for itself. */
  readonly shares: LimitShares | undefined;
  /**
   * Seconds until this node may no longer act by its lease, and seconds since the last complete check for lost hints.
   * Undefined for a process that is alone.
   */
  vitals(): { lease: number; healAge: number } | undefined;
  /** Sets the connections of the broker, and the functions that carry out hints of other nodes. */
  serve(workers: HintWorkers & { connections: ConnectionsHere }): void;
}

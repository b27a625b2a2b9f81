import type { LimitShares } from '../../runtime/token-buckets.ts';
import type { UnitOfWork } from '../database/sql.ts';
import type { Bus } from './bus.ts';
import type { Cluster } from './cluster.ts';
import type { Nodes } from './nodes.ts';
import type { Owner } from './owner-repository.ts';
import type { ReceiverShare } from './partitions.ts';
import type { HintWorkers } from './serve-hints.ts';

/** The connections to this process, as its broker knows them. */
export interface ConnectionsHere {
  isConnected(deviceId: string): boolean;
  /** Undefined when more than `most` devices are connected. */
  connectedIds(most: number): string[] | undefined;
  connectedCount(): number;
}

/** The owners of devices, as the core and the views need them. */
export interface DeviceOwnership {
  /** In a unit: the node that has the device, and whether a command is due for it behind the transaction `after`. */
  look(unit: UnitOfWork, deviceId: string, after: number): Promise<Owner | undefined>;
  /** After a commit: tells the node of a device that a command (`wake`) or a cancel is due for it. */
  wake(deviceId: string, owner: { nodeId: string | null }, kind: 'wake' | 'cancel'): void;
  /** A connection of this node turned out to have lost its device to another connection. */
  lost(deviceId: string, epoch: number): void;
  /** In the unit that deletes a device. */
  remove(unit: UnitOfWork, deviceId: string): Promise<unknown>;
  /** Returns those of the given devices that are connected to any node. */
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** All connected devices; undefined when there are more than `most`. */
  connectedIds(most: number): string[] | undefined | Promise<string[] | undefined>;
  /** How many devices are connected, to any node. */
  connectedCount(): number | Promise<number>;
  /** The node that a device is connected to; null when it is connected nowhere, or there is one node only. */
  nodeOf(deviceId: string): Promise<string | null>;
  /** The node is about to stop. */
  leave(): void;
}

/** Everything that the service asks of the nodes around it. A process without others has `createAlone`. */
export interface Peers {
  /** Undefined for a process that is alone at its database. */
  readonly cluster: Cluster | undefined;
  readonly nodes: Pick<Nodes, 'count' | 'leads'> & { id(): string };
  readonly bus: Pick<Bus, 'broadcast' | 'on' | 'onGap'>;
  readonly ownership: DeviceOwnership;
  readonly partitions: ReceiverShare;
  /** How nodes share a limit; undefined: it is this process's alone. */
  readonly shares: LimitShares | undefined;
  /**
   * Seconds that are left of this node's lease, and since the last complete check for lost hints; undefined for a process
   * that is alone.
   */
  vitals(): { lease: number; healAge: number } | undefined;
  /** Gives the broker's connections, and the workers that carry out the hints of other nodes. */
  serve(workers: HintWorkers & { connections: ConnectionsHere }): void;
}

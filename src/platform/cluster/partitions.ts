import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Log } from '../../runtime/log.ts';
import type { RawConnection } from '../database/postgres/raw-connection.ts';
import type { Bus } from './bus.ts';
import type { Nodes } from './nodes.ts';
import { listPartitions, movePartitions, type Partition } from './partition-rows.ts';
import { chosen, PARTITIONS, partitionOf } from './rendezvous.ts';

/**
 * Prefix of a `due` hint that a node has passed on, because it no longer has the receiver. Such a hint is not passed on
 * again, so that it cannot go round for ever.
 */
const PASSED_ON = '+';

/** The end of a hand-over comes within 20 s, and the next node takes the partition with one of its next leases. */
const UNSERVED_MS = 45_000;

export interface Receiver {
  applicationId: string;
  setting: string;
}

/** The sender of webhooks, for the receivers in this node's partitions. */
export interface Worker {
  /** Called when this node has got further partitions: begins to send the pending deliveries of their receivers. */
  adopt(): Promise<void>;
  /**
   * Called before partitions are released: begins no more attempts for receivers for which `mine` is false. Resolves
   * when their attempts in progress have ended and are stored, or are given up. It always ends.
   */
  drain(): Promise<void>;
  /** Called when this node has lost all its partitions: begins no more attempts, and lets those in progress end. */
  dropLost(): void;
}

interface Parts {
  nodes: Nodes;
  bus: Bus;
  log: Log;
  metrics: Pick<Metrics, 'clusterPartitions'>;
  /** Milliseconds for which a partition of this node may have no sender; 45 s by default. */
  unservedMs?: number;
}

/** Tells the sender of webhooks which receivers belong to this node. */
export interface ReceiverShare {
  /** Whether this node may begin an attempt for the receivers of this partition now. */
  mine(partition: number): boolean;
  partitionOf(receiver: Receiver): number;
  /**
   * Tells the node of a receiver that a delivery is due for it. `passedOn`: this node only passes on the hint of
   * another node.
   */
  tell(receiver: Receiver, passedOn?: boolean): void;
}

/**
 * Divides the receivers of webhooks between nodes, by partitions. All nodes compute the same node for each partition,
 * from the list of live nodes. A node that has to give up a partition first waits for the end of its attempts there,
 * and then releases it; only then does the new node take it. The partitions of a dead node are taken at once: a node
 * begins nothing after 80 % of its lease, so a node whose lease has expired attempts nothing. Each change requires that
 * the partition still has the epoch that was read.
 */
export function createPartitions({ nodes, bus, log, metrics, unservedMs = UNSERVED_MS }: Parts) {
  /** All partitions with their nodes, as read after the last renewal of the lease. */
  let known: readonly Partition[] = [];
  const owned = new Set<number>();
  const draining = new Set<number>();
  /** Partitions of this node in which no attempt is in progress any more, and which are to be released next. */
  const drained = new Set<number>();
  let worker: Worker | undefined;
  /** Since when, by a steady clock, partitions have had no sender that should have this node's; undefined: none. */
  let unservedSince: number | undefined;

  const has = (partition: number): boolean => owned.has(partition) && !draining.has(partition);

  function lost(): void {
    if (owned.size > 0) log.warn({ partitions: owned.size }, 'this node sends no webhooks: its lease was lost');
    owned.clear();
    draining.clear();
    drained.clear();
    metrics.clusterPartitions.set(0);
    worker?.dropLost();
  }

  function beginDraining(by: Worker, partitions: readonly number[]): void {
    for (const partition of partitions) draining.add(partition);
    void by
      .drain()
      .catch((err: unknown) =>
        log.error({ err }, 'the attempts in partitions of webhook receivers that another node gets could not be ended'),
      )
      .then(() => {
        for (const partition of partitions) if (draining.has(partition)) drained.add(partition);
        nodes.beatNow();
      });
  }

  /** Releases these partitions to the nodes that they belong to now. Returns true when there were any. */
  async function releaseDrained(on: RawConnection, ids: readonly string[]): Promise<boolean> {
    const going = known.filter(({ partition }) => drained.has(partition));
    const byNode = Map.groupBy(going, ({ partition }) => chosen(partition, ids) ?? '');
    for (const [to, partitions] of byNode) {
      const moved = await movePartitions(on, partitions, to === nodes.id() ? null : to);
      for (const { partition } of partitions) forget(partition);
      // `known` is corrected at once, so that hints about new deliveries go to the new node.
      known = known.map((one) => (moved.includes(one.partition) ? { ...one, nodeId: to } : one));
      log.info({ to, partitions: moved.length }, 'this node released partitions of webhook receivers to another node');
      bus.send(to, { kind: 'partitions', about: '' });
    }
    return going.length > 0;
  }

  async function takeFree(on: RawConnection, ids: readonly string[]): Promise<boolean> {
    const free = known.filter(
      ({ partition, nodeId }) => (nodeId === null || !nodes.isLive(nodeId)) && chosen(partition, ids) === nodes.id(),
    );
    const taken = await movePartitions(on, free, nodes.id());
    if (taken.length > 0) log.info({ partitions: taken.length }, 'this node took partitions of webhook receivers');
    return taken.length > 0;
  }

  /** Whether this node must send for a partition, or hand it over, and does neither. */
  const isUnserved = ({ partition, nodeId }: Partition, ids: readonly string[]): boolean => {
    if (nodeId === nodes.id()) return !has(partition);
    return (nodeId === null || !nodes.isLive(nodeId)) && chosen(partition, ids) === nodes.id();
  };

  /** Runs after each renewal of the lease, on the connection of the lease. */
  async function beat(on: RawConnection): Promise<void> {
    const ids = nodes.live().map(({ nodeId }) => nodeId);
    try {
      await update(on, ids);
    } finally {
      if (known.some((one) => isUnserved(one, ids))) unservedSince ??= performance.now();
      else unservedSince = undefined;
    }
  }

  /** Gives up, takes and reads partitions. */
  async function update(on: RawConnection, ids: readonly string[]): Promise<void> {
    known = await listPartitions(on);
    if (!worker) return; // a node has no partition before it can send its webhooks
    if (await releaseDrained(on, ids)) known = await listPartitions(on);
    if (await takeFree(on, ids)) known = await listPartitions(on);
    const mine = known.filter(({ nodeId }) => nodeId === nodes.id()).map(({ partition }) => partition);
    if (!nodes.mayAct()) return; // the lease was lost meanwhile
    const news = mine.filter((partition) => !owned.has(partition));
    for (const partition of news) owned.add(partition);
    for (const partition of owned) if (!mine.includes(partition)) forget(partition);
    const leaving = mine.filter((partition) => chosen(partition, ids) !== nodes.id() && !draining.has(partition));
    if (leaving.length > 0) beginDraining(worker, leaving);
    metrics.clusterPartitions.set(owned.size);
    if (news.length > 0)
      worker.adopt().catch((err: unknown) => {
        // The next check for lost hints begins these deliveries. On a node that stops this is no error.
        if (nodes.mayAct() && !isDatabaseAway(err))
          log.error({ err }, 'the due webhooks of new partitions could not be read');
      });
  }

  function forget(partition: number): void {
    owned.delete(partition);
    draining.delete(partition);
    drained.delete(partition);
  }

  nodes.atBeat(beat);
  nodes.onLost(lost);
  nodes.onChanged(nodes.beatNow);
  bus.on('partitions', nodes.beatNow);

  return {
    partitionOf,
    mine: (partition: number): boolean => nodes.mayAct() && has(partition),
    tell(receiver: Receiver, passedOn = false): void {
      const { nodeId = null } = known[partitionOf(receiver)] ?? {};
      const about = `${passedOn ? PASSED_ON : ''}${receiver.setting} ${receiver.applicationId}`;
      const isOther = nodeId !== null && nodeId !== nodes.id() && nodes.isLive(nodeId);
      if (isOther) bus.send(nodeId, { kind: 'due', about });
      else bus.broadcast({ kind: 'due', about }); // it is not known which node has the partition, so all are told
    },
    /** Reads a `due` hint: its receiver, and whether the hint was already passed on. */
    readHint(about: string): { receiver: Receiver; passedOn: boolean } {
      const passedOn = about.startsWith(PASSED_ON);
      const [setting = '', applicationId = ''] = about.slice(passedOn ? PASSED_ON.length : 0).split(' ');
      return { receiver: { setting, applicationId }, passedOn };
    },
    /** Sets the sender of webhooks. Only from here on this node has partitions. */
    serve(by: Worker): void {
      worker = by;
      nodes.beatNow();
    },
    /** Why this node should get no requests: partitions that it must send for have no sender. Undefined otherwise. */
    trouble(): string | undefined {
      if (unservedSince === undefined) return undefined;
      const ms = performance.now() - unservedSince;
      return ms > unservedMs
        ? `partitions of webhook receivers have had no sender for ${Math.floor(ms / 1000)} s`
        : undefined;
    },
    /** The number of this node's partitions. */
    owned: (): number => owned.size,
    all: PARTITIONS,
  } satisfies ReceiverShare & Record<PropertyKey, unknown>;
}

import { isDatabaseAway } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Log } from '../../runtime/log.ts';
import type { RawConnection } from '../database/postgres/raw-connection.ts';
import type { Bus } from './bus.ts';
import type { Nodes } from './nodes.ts';
import { listPartitions, movePartitions, type Partition } from './partition-rows.ts';
import { chosen, PARTITIONS, partitionOf } from './rendezvous.ts';

/**
 * Prefix of a hint that was passed on by a node that no longer has the receiver; such a hint is not passed on again, so that
 * it cannot circle.
 */
const PASSED_ON = '+';

export interface Receiver {
  applicationId: string;
  setting: string;
}

/** Sends the webhooks of the receivers in this node's partitions. */
export interface Worker {
  /** Called when partitions became this node's: their pending deliveries are taken up. */
  adopt(): Promise<void>;
  /**
   * Begins no more work for receivers that `mine` excludes; resolves when their attempts in progress have ended and are
   * stored.
   */
  drain(): Promise<void>;
  /** Called when all partitions were lost: begins no more work, and lets attempts in progress end. */
  dropLost(): void;
}

interface Parts {
  nodes: Nodes;
  bus: Bus;
  log: Log;
  metrics: Pick<Metrics, 'clusterPartitions'>;
}

/** The receivers of this node, as the webhooks see them. */
export interface ReceiverShare {
  /** Whether this node may begin an attempt for the receiver now. */
  mine(partition: number): boolean;
  partitionOf(receiver: Receiver): number;
  /** Tells another node that a delivery is due for its receiver. `passedOn`: the hint came from a third node. */
  tell(receiver: Receiver, passedOn?: boolean): void;
}

/**
 * Divides the receivers of webhooks between nodes, by partitions. All nodes compute the same node for each partition, from the
 * live ones. The node that has a partition releases it when no attempt in it is in progress any more, and only then does the
 * other take it. From a dead node it is taken at once, since a node that has only lost its lease begins nothing after 80 % of
 * it. Every change checks the epoch that was read.
 */
export function createPartitions({ nodes, bus, log, metrics }: Parts) {
  /** The partitions as of the last renewal. */
  let known: readonly Partition[] = [];
  const owned = new Set<number>();
  const draining = new Set<number>();
  /** Partitions that are drained and not released yet. */
  const drained = new Set<number>();
  let worker: Worker | undefined;

  const has = (partition: number): boolean => owned.has(partition) && !draining.has(partition);

  function lost(): void {
    if (owned.size > 0) log.warn({ partitions: owned.size }, 'this node sends no webhooks: its lease was lost');
    owned.clear();
    draining.clear();
    drained.clear();
    metrics.clusterPartitions.set(0);
    worker?.dropLost();
  }

  function beginDraining(partitions: readonly number[]): void {
    for (const partition of partitions) draining.add(partition);
    worker?.drain().then(
      () => {
        for (const partition of partitions) if (draining.has(partition)) drained.add(partition);
        nodes.beatNow();
      },
      (err: unknown) => log.error({ err }, 'webhooks of partitions that are handed over could not be completed'),
    );
  }

  /** Releases the drained partitions. Returns true when there were any. */
  async function releaseDrained(on: RawConnection, ids: readonly string[]): Promise<boolean> {
    const going = known.filter(({ partition }) => drained.has(partition));
    const byNode = Map.groupBy(going, ({ partition }) => chosen(partition, ids) ?? '');
    for (const [to, partitions] of byNode) {
      const moved = await movePartitions(on, partitions, to === nodes.id() ? null : to);
      for (const { partition } of partitions) forget(partition);
      // `known` changes at once, so that hints for new deliveries go to the next node.
      known = known.map((one) => (moved.includes(one.partition) ? { ...one, nodeId: to } : one));
      log.info({ to, partitions: moved.length }, 'partitions of receivers went to another node');
      bus.send(to, { kind: 'partitions', about: '' });
    }
    return going.length > 0;
  }

  async function takeFree(on: RawConnection, ids: readonly string[]): Promise<boolean> {
    const free = known.filter(
      ({ partition, nodeId }) => (nodeId === null || !nodes.isLive(nodeId)) && chosen(partition, ids) === nodes.id(),
    );
    const taken = await movePartitions(on, free, nodes.id());
    if (taken.length > 0) log.info({ partitions: taken.length }, 'partitions of receivers were taken');
    return taken.length > 0;
  }

  /** Runs on the lease's connection, after each renewal. */
  async function update(on: RawConnection): Promise<void> {
    const ids = nodes.live().map(({ nodeId }) => nodeId);
    known = await listPartitions(on);
    if (await releaseDrained(on, ids)) known = await listPartitions(on);
    if (await takeFree(on, ids)) known = await listPartitions(on);
    const mine = known.filter(({ nodeId }) => nodeId === nodes.id()).map(({ partition }) => partition);
    if (!nodes.mayAct()) return; // the lease was lost meanwhile
    const news = mine.filter((partition) => !owned.has(partition));
    for (const partition of news) owned.add(partition);
    for (const partition of owned) if (!mine.includes(partition)) forget(partition);
    const leaving = mine.filter((partition) => chosen(partition, ids) !== nodes.id() && !draining.has(partition));
    if (leaving.length > 0) beginDraining(leaving);
    metrics.clusterPartitions.set(owned.size);
    if (news.length > 0)
      worker?.adopt().catch((err: unknown) => {
        // The next check takes them up; for a node that stops this is no error.
        if (nodes.mayAct() && !isDatabaseAway(err)) log.error({ err }, 'webhooks of new partitions could not be read');
      });
  }

  function forget(partition: number): void {
    owned.delete(partition);
    draining.delete(partition);
    drained.delete(partition);
  }

  nodes.atBeat(update);
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
      else bus.broadcast({ kind: 'due', about }); // to any node that takes the partition, or has just taken it
    },
    /** The receiver of a hint, and whether the hint was already passed on. */
    readHint(about: string): { receiver: Receiver; passedOn: boolean } {
      const passedOn = about.startsWith(PASSED_ON);
      const [setting = '', applicationId = ''] = about.slice(passedOn ? PASSED_ON.length : 0).split(' ');
      return { receiver: { setting, applicationId }, passedOn };
    },
    /** Sets the sender of webhooks; before the start. */
    serve(by: Worker): void {
      worker = by;
    },
    /** The number of this node's partitions. */
    owned: (): number => owned.size,
    all: PARTITIONS,
  } satisfies ReceiverShare & Record<PropertyKey, unknown>;
}

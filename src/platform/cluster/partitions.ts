import { isDatabaseAway } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Log } from '../../runtime/log.ts';
import type { RawConnection } from '../database/postgres/raw-connection.ts';
import type { Bus } from './bus.ts';
import type { Nodes } from './nodes.ts';
import { listPartitions, movePartitions, type Partition } from './partition-rows.ts';
import { chosen, PARTITIONS, partitionOf } from './rendezvous.ts';

/** Before a hint that came to one who has the receiver no more: it is passed on once, and not round and round. */
const PASSED_ON = '+';

export interface Receiver {
  applicationId: string;
  setting: string;
}

/** Who does the work for the receivers of a set of partitions. */
export interface Worker {
  /** Partitions are this node's now: what is due in them is taken up. */
  adopt(): Promise<void>;
  /** Begins nothing more for receivers that `mine` is false of; resolves when what was under way for them is written down. */
  drain(): Promise<void>;
  /** Nothing is this node's any more: what is under way has its end, nothing more is begun. */
  letGo(): void;
}

interface Parts {
  nodes: Nodes;
  bus: Bus;
  log: Log;
  metrics: Pick<Metrics, 'clusterPartitions'>;
}

/** What webhooks ask. */
export interface ReceiverShare {
  /** Whether this node may begin an attempt for the receiver now. */
  mine(partition: number): boolean;
  partitionOf(receiver: Receiver): number;
  /** Something is due for a receiver of another node: that one is told. `passedOn`: as another node said. */
  tell(receiver: Receiver, passedOn?: boolean): void;
}

/**
 * Which receivers this node sends to. All nodes find the same one for each partition among those that live; the one that has
 * it lets it go when nothing is under way in it any more, and only then the other one takes it. From a dead node it is taken
 * at once: one that only lost its lease has begun nothing more since 80 % of it. Every change is checked against the epoch
 * that was seen.
 */
export function createPartitions({ nodes, bus, log, metrics }: Parts) {
  /** As of the last look. */
  let known: readonly Partition[] = [];
  const owned = new Set<number>();
  const draining = new Set<number>();
  /** Drained, and not yet let go. */
  const drained = new Set<number>();
  let worker: Worker | undefined;

  const has = (partition: number): boolean => owned.has(partition) && !draining.has(partition);

  function lost(): void {
    if (owned.size > 0) log.warn({ partitions: owned.size }, 'webhooks of this node rest: its lease was lost');
    owned.clear();
    draining.clear();
    drained.clear();
    metrics.clusterPartitions.set(0);
    worker?.letGo();
  }

  function beginDraining(partitions: readonly number[]): void {
    for (const partition of partitions) draining.add(partition);
    worker?.drain().then(
      () => {
        for (const partition of partitions) if (draining.has(partition)) drained.add(partition);
        nodes.beatNow();
      },
      (err: unknown) => log.error({ err }, 'webhooks of partitions that go could not be brought to an end'),
    );
  }

  /** True when something changed. */
  async function letGo(on: RawConnection, ids: readonly string[]): Promise<boolean> {
    const going = known.filter(({ partition }) => drained.has(partition));
    const byNode = Map.groupBy(going, ({ partition }) => chosen(partition, ids) ?? '');
    for (const [to, partitions] of byNode) {
      const moved = await movePartitions(on, partitions, to === nodes.id() ? null : to);
      for (const { partition } of partitions) forget(partition);
      // At once: what is recorded from here on is told to the next one.
      known = known.map((one) => (moved.includes(one.partition) ? { ...one, nodeId: to } : one));
      log.info({ to, partitions: moved.length }, 'partitions of receivers went to another node');
      bus.send(to, { kind: 'partitions', about: '' });
    }
    return going.length > 0;
  }

  async function take(on: RawConnection, ids: readonly string[]): Promise<boolean> {
    const free = known.filter(
      ({ partition, nodeId }) => (nodeId === null || !nodes.isLive(nodeId)) && chosen(partition, ids) === nodes.id(),
    );
    const taken = await movePartitions(on, free, nodes.id());
    if (taken.length > 0) log.info({ partitions: taken.length }, 'partitions of receivers were taken');
    return taken.length > 0;
  }

  /** With the lease's connection, after each renewal. */
  async function look(on: RawConnection): Promise<void> {
    const ids = nodes.live().map(({ nodeId }) => nodeId);
    known = await listPartitions(on);
    if (await letGo(on, ids)) known = await listPartitions(on);
    if (await take(on, ids)) known = await listPartitions(on);
    const mine = known.filter(({ nodeId }) => nodeId === nodes.id()).map(({ partition }) => partition);
    if (!nodes.mayAct()) return; // lost meanwhile
    const news = mine.filter((partition) => !owned.has(partition));
    for (const partition of news) owned.add(partition);
    for (const partition of owned) if (!mine.includes(partition)) forget(partition);
    const leaving = mine.filter((partition) => chosen(partition, ids) !== nodes.id() && !draining.has(partition));
    if (leaving.length > 0) beginDraining(leaving);
    metrics.clusterPartitions.set(owned.size);
    if (news.length > 0)
      worker?.adopt().catch((err: unknown) => {
        // The next look reads them; a node that stops need not.
        if (nodes.mayAct() && !isDatabaseAway(err)) log.error({ err }, 'webhooks of new partitions could not be read');
      });
  }

  function forget(partition: number): void {
    owned.delete(partition);
    draining.delete(partition);
    drained.delete(partition);
  }

  nodes.atBeat(look);
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
      else bus.broadcast({ kind: 'due', about }); // whoever takes it, or has just taken it from here
    },
    /** Whom a hint speaks of, and whether it was passed on already. */
    readHint(about: string): { receiver: Receiver; passedOn: boolean } {
      const passedOn = about.startsWith(PASSED_ON);
      const [setting = '', applicationId = ''] = about.slice(passedOn ? PASSED_ON.length : 0).split(' ');
      return { receiver: { setting, applicationId }, passedOn };
    },
    /** Who sends; to be set before the start. */
    serve(by: Worker): void {
      worker = by;
    },
    /** How many this node has. */
    owned: (): number => owned.size,
    all: PARTITIONS,
  } satisfies ReceiverShare & Record<PropertyKey, unknown>;
}

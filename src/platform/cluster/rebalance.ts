import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Nodes } from './nodes.ts';
import type { Ownership } from './ownership.ts';

const CHECK_MS = 1_000;
/** Milliseconds without a node that joins or leaves before devices are handed over, since further nodes may follow. */
const SETTLED_MS = 30_000;
/**
 * A node has too many devices when it exceeds the mean by a tenth, but at least by a few. It hands devices over until its
 * excess is half of that.
 */
const SLACK_SHARE = 0.1;
const SLACK = 4;
/** Milliseconds in which a device connects to its new node, and that node has told its new number of devices. */
const ON_THE_WAY_MS = 10_000;
/** The most handed-over devices that are remembered, so that none is handed over twice within an hour (ONCE_IN_MS). */
const REMEMBERED = 50_000;
const ONCE_IN_MS = 3_600_000;
/**
 * If this many of the last devices that were handed over have come back here, the balancer does not lead them to other
 * nodes.
 */
const EXAMINED = 20;
const CAME_BACK = 15;

interface Shares {
  own: number;
  /** The devices of each live node; null when a node has not told their number. */
  all: readonly (number | null)[];
  /** Devices that were handed over, and may not be counted by another node yet. */
  onTheWay: number;
}

/** The number of devices that a node has to hand over. */
export function surplusOf({ own, all, onTheWay }: Shares, isUnderWay: boolean): number {
  if (all.length < 2 || all.includes(null)) return 0;
  const mean = all.reduce<number>((sum, count) => sum + (count ?? 0), onTheWay) / all.length;
  const slack = Math.max(SLACK, mean * SLACK_SHARE);
  if (!isUnderWay && own - mean <= slack) return 0;
  return Math.max(0, Math.floor(own - mean - slack / 2));
}

/** The state of a device that may be handed over, and the preparation of that. */
export interface HandOver {
  /** Whether no message is in progress between the device and this node. */
  isQuiet(deviceId: string): boolean;
  /** Called before the connection, which has the device under that epoch, is ended. */
  prepare(deviceId: string, epoch: number): Promise<unknown>;
}

interface Parts {
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'clusterHandedOver'>;
  nodes: Nodes;
  ownership: Pick<Ownership, 'size' | 'has' | 'deviceIds' | 'handOver'>;
  /** The most devices that are handed over in a second; 0 for none. */
  perSecond: number;
}

/**
 * Evens out the numbers of devices between nodes, slowly. A node with more than the others closes some connections a second,
 * of devices that are silent at that moment; they connect again, and the load balancer leads them to the node with the fewest.
 * Nothing is lost: messages in progress are repeated, as whenever a connection ends.
 */
export function createRebalancing({ clock, log, metrics, nodes, ownership, perSecond }: Parts) {
  let by: HandOver = { isQuiet: () => false, prepare: async () => undefined };
  let settledAt = clock.now() + SETTLED_MS * 1_000;
  let isUnderWay = false;
  let cancel = (): void => undefined;
  /** The time at which each device was handed over, the earliest first. */
  const handed = new Map<string, number>();

  nodes.onChanged(() => {
    settledAt = clock.now() + SETTLED_MS * 1_000;
  });

  function forget(now: number): void {
    for (const [deviceId, at] of handed) {
      if (handed.size <= REMEMBERED && now - at < ONCE_IN_MS * 1_000) return;
      handed.delete(deviceId);
    }
  }

  function onTheWay(now: number): number {
    let count = 0;
    for (const at of [...handed.values()].reverse()) {
      if (now - at > ON_THE_WAY_MS * 1_000) break;
      count += 1;
    }
    return count;
  }

  /** Whether the load balancer leads the devices back to this node. */
  function comeBack(): boolean {
    const last = [...handed.keys()].slice(-EXAMINED);
    return last.length === EXAMINED && last.filter(ownership.has).length >= CAME_BACK;
  }

  function handOverSome(): void {
    const now = clock.now();
    forget(now);
    const own = ownership.size();
    const all = nodes.live().map(({ nodeId, devices }) => (nodeId === nodes.id() ? own : devices));
    const surplus =
      now < settledAt || !nodes.mayAct() ? 0 : surplusOf({ own, all, onTheWay: onTheWay(now) }, isUnderWay);
    if (surplus === 0 || comeBack()) {
      if (isUnderWay) log.info({ devices: own }, 'no more devices are handed over');
      isUnderWay = false;
      return;
    }
    if (!isUnderWay) log.info({ devices: own, surplus }, 'devices are handed over to nodes that have fewer');
    isUnderWay = true;
    let left = Math.min(surplus, perSecond);
    for (const deviceId of ownership.deviceIds()) {
      if (left === 0) break;
      if (handed.has(deviceId) || !by.isQuiet(deviceId)) continue;
      handed.set(deviceId, now);
      void ownership.handOver(deviceId, by.prepare);
      metrics.clusterHandedOver.inc();
      left -= 1;
    }
  }

  function arm(): void {
    cancel = clock.after(CHECK_MS, () => {
      handOverSome();
      arm();
    });
  }

  return {
    /** Sets how devices are handed over; before the start. */
    handOverBy(how: HandOver): void {
      by = how;
    },
    start(): void {
      if (perSecond > 0) arm();
    },
    [Symbol.asyncDispose]: async (): Promise<void> => cancel(),
  };
}

import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Nodes } from './nodes.ts';
import type { Ownership } from './ownership.ts';

const CHECK_MS = 1_000;
/** After a node has joined or left, devices are handed over only when no other node has followed for this time. */
const SETTLED_MS = 30_000;
/**
 * A node hands over devices when it has more than the mean, by a tenth of the mean and by at least four devices. It
 * stops when its excess has become half of that.
 */
const SLACK_SHARE = 0.1;
const SLACK = 4;
/**
 * Milliseconds. So long after a device was handed over, its new node has it and has told the other nodes its new number
 * of devices.
 */
const ON_THE_WAY_MS = 10_000;
/** The number of handed-over devices that are remembered, so that no device is handed over twice within an hour. */
const REMEMBERED = 50_000;
const ONCE_IN_MS = 3_600_000;
/** The most devices that are remembered because their commands came by calls to another node. */
const MOST_CROSSED = 10_000;
/**
 * When 15 of the last 20 devices that were handed over are back on this node, the load balancer leads devices to it and
 * not to the other nodes. No more devices are handed over then.
 */
const EXAMINED = 20;
const CAME_BACK = 15;

interface Shares {
  own: number;
  /** The number of devices of each live node; null when a node has not reported it yet. */
  all: readonly (number | null)[];
  /** Devices that this node has handed over a moment ago, so that their new node may not count them yet. */
  onTheWay: number;
}

/** The number of devices that this node has to hand over to other nodes. */
export function surplusOf({ own, all, onTheWay }: Shares, isUnderWay: boolean): number {
  if (all.length < 2 || all.includes(null)) return 0;
  const mean = all.reduce<number>((sum, count) => sum + (count ?? 0), onTheWay) / all.length;
  const slack = Math.max(SLACK, mean * SLACK_SHARE);
  if (!isUnderWay && own - mean <= slack) return 0;
  return Math.max(0, Math.floor(own - mean - slack / 2));
}

/**
 * The functions of the broker that the rebalancing uses: they say whether a device is silent, and prepare the end of its
 * connection.
 */
export interface HandOver {
  /** Whether no message is on its way between the device and this node, so that its connection can be ended. */
  isQuiet(deviceId: string): boolean;
  /** Called before the connection of the device is ended. `epoch` is the epoch of that connection. */
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
 * Evens out the numbers of devices between nodes, slowly. A node with too many devices ends some connections a second,
 * of devices that are silent at that moment. Each device connects again, and the load balancer leads it to the node
 * with the fewest. Nothing is lost: messages in progress are repeated, as after every end of a connection.
 *
 * The first ones are devices whose commands come by calls to another node: a load balancer that leads calls to the node of
 * their device leads these devices there, and others back.
 */
export function createRebalancing({ clock, log, metrics, nodes, ownership, perSecond }: Parts) {
  let by: HandOver = { isQuiet: () => false, prepare: async () => undefined };
  let settledAt = clock.now() + SETTLED_MS * 1_000;
  let isUnderWay = false;
  let cancel = (): void => undefined;
  /** When each device was handed over, the earliest first. */
  const handed = new Map<string, number>();
  /** Devices whose commands came by calls to another node since the last node came or went. */
  const crossed = new Set<string>();

  nodes.onChanged(() => {
    settledAt = clock.now() + SETTLED_MS * 1_000;
    crossed.clear();
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

  /** Whether most of the devices that were handed over last are connected to this node again. */
  function comeBack(): boolean {
    const last = [...handed.keys()].slice(-EXAMINED);
    return last.length === EXAMINED && last.filter(ownership.has).length >= CAME_BACK;
  }

  /** The devices of this node, in the order in which they are handed over; some come twice. */
  function* candidates(): Generator<string> {
    for (const deviceId of crossed)
      if (ownership.has(deviceId)) yield deviceId;
      else crossed.delete(deviceId);
    yield* ownership.deviceIds();
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
    for (const deviceId of candidates()) {
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
    /** Sets the functions of the broker that hand over a device; to be called before the start. */
    handOverBy(how: HandOver): void {
      by = how;
    },
    /** Called when a call to another node has brought a command for a device of this node. */
    crosses(deviceId: string): void {
      if (crossed.size < MOST_CROSSED) crossed.add(deviceId);
    },
    start(): void {
      if (perSecond > 0) arm();
    },
    [Symbol.asyncDispose]: async (): Promise<void> => cancel(),
  };
}

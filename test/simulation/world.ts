import { createRandom, deriveSeed, type Random } from '@lapel/device-sim/random';
import { type Conditions, Network, type WorldSocket } from './network.ts';
import { PARTS } from './parts.ts';
import type { Spell } from './plan.ts';
import { WorldTime } from './time.ts';

/** The disk of a world: how long it takes until it has the log. */
export interface DiskConditions {
  milliseconds(): number;
}

/** Everything that a seed decides, of the world that this process plays. */
export interface World {
  readonly seed: number;
  readonly time: WorldTime;
  readonly network: Network;
  readonly disk: DiskConditions;
  /** The database of the service: which bytes of its log the disk has. */
  readonly logs: Map<string, { syncedFrames: number; salt: string; close(): void }>;
  /** A separate source of chance for each part of the world. */
  randomOf(part: number): Random;
}

let present: World | undefined;

/** The world of this process. */
export function world(): World {
  if (!present) throw new Error('no world has begun');
  return present;
}

/** Chance that programs ask the system for. Bytes are apart, because some are drawn in advance, and outlast a world. */
let chance: { numbers: Random; bytes: Random } = { numbers: () => 0, bytes: () => 0 };
export const systemChance = () => chance;

/** The port of the customer's receiver. */
export const RECEIVER = 9_000;
/** Milliseconds between two connections that are cut. */
const CUT_EVERY = 400;

/** Lets the troubles of a plan happen to the network. */
function trouble({ network, time }: Pick<World, 'network' | 'time'>, spells: readonly Spell[], chance: Random): void {
  const anyOf = (): WorldSocket | undefined => {
    // A receiver that hangs cannot tell that its connection was cut, and would blame the service for the next attempt.
    const open = [...network.open].filter(
      ({ peer, localPort, remotePort }) => peer !== undefined && localPort !== RECEIVER && remotePort !== RECEIVER,
    );
    return open[Math.trunc(chance() * open.length)];
  };
  for (const { kind, from, lasts } of spells) {
    if (kind === 'cuts')
      for (let at = from; at < from + lasts; at += CUT_EVERY)
        time.plan(at, 'cut', () => {
          const socket = anyOf();
          const peer = socket?.peer;
          for (const end of [socket, peer]) if (end) time.plan(0, 'reset', () => end.reset(), end.program);
        });
    if (kind === 'silence')
      time.plan(from, 'silence', () => {
        for (let count = 1 + Math.trunc(chance() * 3); count > 0; count -= 1) {
          const socket = anyOf();
          if (socket) socket.isDeaf = true;
        }
      });
  }
}

/**
 * Numbers that follow from the moment: a library that draws one at its first use in a process would shift those of all
 * others.
 */
function numbersOf(seed: number, time: WorldTime): Random {
  let turn = -1;
  let drawn = 0;
  return () => {
    drawn = time.turn === turn ? drawn + 1 : 0;
    turn = time.turn;
    return createRandom(deriveSeed(seed, PARTS.numbers, turn, drawn))();
  };
}

/** Begins a new world; the former one is over. */
export function beginWorld(seed: number, spells: readonly Spell[] = []): World {
  const randomOf = (part: number): Random => createRandom(deriveSeed(seed, part));
  const time = new WorldTime();
  const isNow = (kind: Spell['kind']): boolean =>
    spells.some(({ kind: one, from, lasts }) => one === kind && time.now >= from && time.now < from + lasts);
  const [ofNetwork, ofDisk] = [randomOf(PARTS.network), randomOf(PARTS.disk)];
  chance = { numbers: numbersOf(seed, time), bytes: randomOf(PARTS.bytes) };
  const conditions: Conditions = {
    latency: () => (isNow('slow-network') ? 20 + 1000 * ofNetwork() : 0.2 + 2 * ofNetwork()),
    piece: (length) => (ofNetwork() < 0.9 ? length : Math.ceil(length * ofNetwork())),
    isOpen: () => true,
  };
  const disk: DiskConditions = {
    milliseconds: () =>
      isNow('slow-disk') ? 50 + 1950 * ofDisk() : 0.5 + (ofDisk() < 0.98 ? 3 * ofDisk() : 200 * ofDisk()),
  };
  present = { seed, time, network: new Network(time, conditions), disk, logs: new Map(), randomOf };
  trouble(present, spells, randomOf(PARTS.trouble));
  return present;
}

import { createRandom, deriveSeed, type Random } from '@lapel/device-sim/random';
import { Network } from './network.ts';
import { type Pace, SHORT } from './pace.ts';
import { PARTS } from './parts.ts';
import type { Spell } from './plan.ts';
import { type Program, WorldTime } from './time.ts';
import { createTroubles } from './troubles.ts';
import { type DiskConditions, MQTT, type World } from './world-parts.ts';
import type { Conditions } from './world-socket.ts';

let present: World | undefined;

/** The world of this process. */
export function world(): World {
  if (!present) throw new Error('no world has begun');
  return present;
}

/** Chance that programs ask the system for. Bytes are apart, because some are drawn in advance, and outlast a world. */
let chance: { numbers: Random; bytes: Random } = { numbers: () => 0, bytes: () => 0 };
export const systemChance = () => chance;

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

/** Begins a new world; the former one is over. `onTrouble` is told of each trouble when it happens. */
export function beginWorld(
  seed: number,
  spells: readonly Spell[] = [],
  onTrouble: (kind: string) => void = () => undefined,
  pace: Pace = SHORT,
): World {
  const randomOf = (part: number): Random => createRandom(deriveSeed(seed, part));
  const time = new WorldTime(pace.mostEvents);
  const until = new Map<Spell['kind'], number>();
  const isNow = (kind: Spell['kind']): boolean => time.now < (until.get(kind) ?? 0);
  const [ofNetwork, ofDisk] = [randomOf(PARTS.network), randomOf(PARTS.disk)];
  chance = { numbers: numbersOf(seed, time), bytes: randomOf(PARTS.bytes) };
  const conditions: Conditions = {
    latency: () => (isNow('slow-network') ? 20 + 1000 * ofNetwork() : 0.2 + 2 * ofNetwork()),
    piece: (length) => (ofNetwork() < 0.9 ? length : Math.ceil(length * ofNetwork())),
    isOpen: (port) => port !== MQTT || !isNow('no-network'),
  };
  const disk: DiskConditions = {
    milliseconds: () =>
      isNow('slow-disk') ? 50 + 1950 * ofDisk() : 0.5 + (ofDisk() < 0.98 ? 3 * ofDisk() : 200 * ofDisk()),
    get isFull() {
      return isNow('full-disk');
    },
    fails: () => isNow('full-disk') && ofDisk() < 0.5,
  };
  const ofMachine = randomOf(PARTS.machine);
  time.machine = () => {
    if (isNow('slow-files')) return 20 + 600 * ofMachine();
    return ofMachine() < 0.8 ? 0.02 : 5 * ofMachine();
  };
  let program: Program | undefined;
  let ahead = 0;
  const made: World = {
    seed,
    pace,
    time,
    network: new Network(time, conditions),
    disk,
    logs: new Map(),
    committed: () => undefined,
    broken: () => undefined,
    randomOf,
    newProgram(name) {
      program = { name, isAlive: true, ahead, resumesAt: 0, files: new Set() };
      return program;
    },
    wrongClock(by) {
      ahead = by;
      if (program) program.ahead = by;
    },
    begin(spell) {
      until.set(spell.kind, Math.max(until.get(spell.kind) ?? 0, time.now + spell.lasts));
      begin(spell);
    },
  };
  const begin = createTroubles(made, randomOf(PARTS.trouble), onTrouble);
  present = made;
  for (const spell of spells) time.plan(spell.from, spell.kind, () => made.begin(spell));
  return made;
}

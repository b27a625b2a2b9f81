import type { Random } from '@lapel/device-sim/random';
import type { Spell } from './plan.ts';
import { MQTT, RECEIVER, type World } from './world-parts.ts';
import type { WorldSocket } from './world-socket.ts';

/** Milliseconds between two connections that are cut. */
const CUT_EVERY = 400;

type Played = Pick<World, 'network' | 'time' | 'logs' | 'wrongClock'>;

type Trouble = Omit<Spell, 'from'>;

/** Makes the troubles of the network, of the disk and of the service's clock: the function lets one begin. */
export function createTroubles(
  world: Played,
  chance: Random,
  onTrouble: (kind: string) => void,
): (trouble: Trouble) => void {
  const { network, time, logs, wrongClock } = world;
  const anyOf = (): WorldSocket | undefined => {
    // A receiver that hangs cannot tell that its connection was cut, and would blame the service for the next attempt.
    const open = [...network.open].filter(
      ({ peer, localPort, remotePort }) => peer !== undefined && localPort !== RECEIVER && remotePort !== RECEIVER,
    );
    return open[Math.trunc(chance() * open.length)];
  };
  const resetDevices = (): void => {
    for (const socket of network.open)
      if (socket.localPort === MQTT)
        for (const end of [socket, socket.peer]) if (end) time.plan(0, 'reset', () => end.reset(), end.program);
  };
  const begins: Record<Spell['kind'], (trouble: Trouble) => void> = {
    'slow-disk': () => undefined,
    'slow-network': () => undefined,
    'full-disk': () => {
      for (const { limit } of logs.values()) limit(true);
    },
    clock: ({ by = 0 }) => wrongClock(by),
    'slow-files': () => undefined,
    'no-network': () => resetDevices(),
    'lost-connections': () => resetDevices(),
    cuts({ lasts }) {
      for (let after = 0; after < lasts; after += CUT_EVERY)
        time.plan(after, 'cut', () => {
          onTrouble('cuts');
          const socket = anyOf();
          const peer = socket?.peer;
          for (const end of [socket, peer]) if (end) time.plan(0, 'reset', () => end.reset(), end.program);
        });
    },
    silence() {
      for (let count = 1 + Math.trunc(chance() * 3); count > 0; count -= 1) {
        const socket = anyOf();
        if (socket) socket.isDeaf = true;
      }
    },
  };
  const ends: Partial<Record<Spell['kind'], () => void>> = {
    'full-disk': () => {
      for (const { limit } of logs.values()) limit(false);
    },
    clock: () => wrongClock(0),
  };
  return (trouble) => {
    if (trouble.kind !== 'cuts') onTrouble(trouble.kind);
    begins[trouble.kind](trouble);
    const end = ends[trouble.kind];
    if (end) time.plan(trouble.lasts, `${trouble.kind} over`, end);
  };
}

import type { Device } from '../model/device.ts';
import { createRandom, deriveSeed, draw, type Range } from '../random.ts';
import type { Timers } from '../timers.ts';
import { scheduleHappenings, scheduleRounds } from './happenings.ts';

/** What happens to the devices of a fleet by itself. Rates are per hour and device. */
export interface Life {
  /** Milliseconds between two looks at what has changed by itself; 0: none. */
  readonly statusInterval: number;
  /** Of paired Bluetooth peers. */
  readonly peerMoves: number;
  /** Presses of the SOS button. */
  readonly alarms: number;
  readonly calls: number;
  /** Milliseconds. */
  readonly callLength: Range;
  /** Share of the calls. */
  readonly recorded: number;
  readonly fileUploads: number;
}

/** A battery that is reported now and then, and nothing else. */
export const quietLife: Life = {
  statusInterval: 300_000,
  peerMoves: 0,
  alarms: 0,
  calls: 0,
  callLength: { min: 20_000, max: 120_000 },
  recorded: 0.5,
  fileUploads: 0,
};

/** Most who take part in a call beside the device. */
const OTHERS = 3;

/** Lets a fleet live until the returned function is called: with five timers, however many devices there are. */
export function letLive({
  devices,
  life,
  seed,
  timers,
}: {
  devices: readonly Device[];
  life: Life;
  seed: number;
  timers: Timers;
}): () => void {
  const chances = createRandom(deriveSeed(seed, 1));
  const members = devices.length;
  const happenings = (perHour: number, part: number, happen: (device: Device) => void): (() => void) =>
    scheduleHappenings({
      perHour,
      members,
      random: createRandom(deriveSeed(seed, part)),
      timers,
      happen: (member) => happen(devices[member]!),
    });
  const stops = [
    scheduleRounds({
      every: life.statusInterval,
      members,
      timers,
      visit: (member) => devices[member]?.reportChanges(),
    }),
    happenings(life.peerMoves, 2, (device) => device.movePeer()),
    happenings(life.calls, 3, (device) => {
      // The same draws for every call, whether or not there is one.
      const milliseconds = draw(chances, life.callLength);
      const recorded = chances() < life.recorded;
      device.call({ milliseconds, recorded, others: 1 + Math.floor(chances() * OTHERS) });
    }),
    happenings(life.fileUploads, 4, (device) => device.uploadFile()),
    happenings(life.alarms, 5, (device) => device.pressButton()),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

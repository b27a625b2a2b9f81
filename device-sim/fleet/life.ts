import type { Device } from '../model/device.ts';
import { deriveSeed, type Range } from '../random.ts';
import type { Timers } from '../timers.ts';
import { scheduleHappenings, scheduleRounds } from './scheduled-events.ts';

/** Events that happen to the devices of a fleet without commands. Rates are per hour and device. */
export interface Life {
  /** Milliseconds between two checks for changes to report; 0: none. */
  readonly statusInterval: number;
  /** Paired Bluetooth peers that come or go. */
  readonly peerMoves: number;
  /** Presses of the SOS button. */
  readonly alarms: number;
  readonly calls: number;
  /** Milliseconds. */
  readonly callLength: Range;
  /** The share of calls that are recorded. */
  readonly recorded: number;
  readonly fileUploads: number;
}

/** A life with a battery that is reported now and then, and nothing else. */
export const quietLife: Life = {
  statusInterval: 300_000,
  peerMoves: 0,
  alarms: 0,
  calls: 0,
  callLength: { min: 20_000, max: 120_000 },
  recorded: 0.5,
  fileUploads: 0,
};

/** The largest number of other participants in a call. */
const OTHERS = 3;

/** The events that can happen, each with its rate. */
const KINDS = ['peerMoves', 'calls', 'fileUploads', 'alarms'] as const;

/**
 * Plays the events of one device. Its n-th event is the same whenever the same device is simulated, whatever else
 * happens and however long anything takes.
 */
function livesOn(device: () => Device, life: Life, seed: number, timers: Timers): () => void {
  const number = (n: number, about: number): number => deriveSeed(seed, n, about) / 4_294_967_296;
  const within = ({ min, max }: Range, share: number): number => min + share * (max - min);

  function happen(n: number): void {
    let place = number(n, 1) * KINDS.reduce((sum, kind) => sum + life[kind], 0);
    const kind = KINDS.find((one) => {
      place -= life[one];
      return place < 0;
    });
    if (kind === 'peerMoves') device().movePeer();
    else if (kind === 'fileUploads') device().uploadFile();
    else if (kind === 'alarms') device().pressButton();
    else if (kind === 'calls')
      device().call({
        milliseconds: within(life.callLength, number(n, 2)),
        recorded: number(n, 3) < life.recorded,
        others: 1 + Math.floor(number(n, 4) * OTHERS),
      });
  }

  const perHour = KINDS.reduce((sum, kind) => sum + life[kind], 0);
  return scheduleHappenings({ perHour, number: (n) => number(n, 0), timers, happen });
}

/**
 * Plays the life of devices until the returned function is called. One timer serves the checks of all devices, and each
 * device with events has one of its own.
 */
export function letLive({
  members,
  life,
  timers,
}: {
  /** `device`: the device that has this place at the moment. */
  members: readonly { readonly device: () => Device; readonly seed: number }[];
  life: Life;
  timers: Timers;
}): () => void {
  const rounds = scheduleRounds({
    every: life.statusInterval,
    members: members.length,
    timers,
    visit: (member) => members[member]?.device().reportChanges(),
  });
  const happens = KINDS.some((kind) => life[kind] > 0);
  const stops = happens ? members.map(({ device, seed }) => livesOn(device, life, seed, timers)) : [];
  return () => {
    rounds();
    for (const stop of stops) stop();
  };
}

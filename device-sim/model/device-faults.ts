import type { Chances } from '../faults/chances.ts';
import type { Fault, FaultKind, Occasion } from '../faults/fault.ts';
import { isRefusal, type Link, type LinkOptions } from '../mqtt/link.ts';
import type { Answer, DeviceEvent } from '../mqtt/messages.ts';
import { createLink } from '../mqtt/mqtt-link.ts';
import type { Look } from '../promises/looks.ts';
import type { Timers } from '../timers.ts';
import { AFTERMATHS, createAftermath } from './aftermath.ts';
import { type Charge, FLAT } from './battery.ts';
import type { Execution } from './device-model.ts';
import type { Plan } from './plans.ts';

const DAY = 86_400_000;
/** The speed of a slow reader. */
const BYTES_PER_SECOND = 200;
/**
 * A twin is a second connection with the same client id. If the service does not disconnect it, it ends after so many
 * milliseconds.
 */
const TWIN_STAYS = 5000;

/** Faults that other files carry out: `plans.ts` and `answering.ts`. This file only reports that they happen. */
const PLANNED: readonly FaultKind[] = [
  'fails',
  'never-answers',
  'answers-late',
  'answers-twice',
  'answers-in-wrong-order',
  'answers-before-puback',
  'bad-payload',
  'unknown-fields',
  'storage-full',
  'signature-rejected',
];

/** The fault whose networks do not reach the service. */
const LOSES: FaultKind = 'loses-its-wifi';

/** Faults that begin when the download of a command is on its way. */
const DURING_DOWNLOAD: readonly FaultKind[] = ['breaks-off-install', 'bricks'];

/** Plays the faults of a device that concern its connection, power, clock and files, not its answers. */
export interface DeviceFaults {
  /** Connects the device, perhaps with a fault of the connection. */
  open(): Promise<void>;
  /** Called when a command is about to be carried out. False: a fault switches the device off instead. */
  begins(execution: Execution): boolean;
  /** A download has reached a percentage. */
  progress(transactionId: number, percent: number): void;
  /** The device tries the list of networks of this command. */
  tries(transactionId: number): void;
  /** The device has its former list of networks again. */
  isBack(): void;
  /** A command was answered: what the release does to the device may begin. */
  concluded(answer: Answer): void;
  /** The battery as faults have left it, and the share of the storage that they have filled. */
  worn(): { charge?: Charge | undefined; filled?: number };
  /** Milliseconds by which the clock of the device is wrong at the next event. */
  wrongBy(): number;
  /** Whether the device uses the URL of an upload only after it has expired. */
  isLate(key: string): boolean;
  stop(): void;
}

export function createDeviceFaults({
  url,
  deviceId,
  credential,
  link,
  timers,
  chances,
  phase,
  planOf,
  powerOff,
  die,
  strand,
  loseConnection,
  reportStatus,
  tell,
  look = () => {},
  onPlayed,
  onViolation,
}: {
  url: LinkOptions['url'];
  deviceId: string;
  credential: string;
  link: Link;
  timers: Timers;
  chances: Chances;
  phase?: (() => string) | undefined;
  planOf: (transactionId: number) => Plan | undefined;
  /** Switches the device off for so many milliseconds; `forgets` is the part of its memory that it loses. */
  powerOff: (milliseconds: number, forgets: 'unfinished' | 'everything') => void;
  /** The device does not start any more, whatever its network does; or it does again. */
  die: (isDead: boolean) => void;
  /** The device has no network any more, after all that it has sent was acknowledged; or it has one again. */
  strand: (isStranded: boolean) => void;
  loseConnection: () => void;
  reportStatus: () => void;
  /** Reports an event. */
  tell: (type: string, data: DeviceEvent['data']) => void;
  look?: Look | undefined;
  onPlayed: (fault: Fault, occasion: Occasion) => void;
  onViolation: (text: string) => void;
}): DeviceFaults {
  let connections = 0;
  let happened = 0;
  let twin: Link | undefined;
  let stopped = false;
  let recovers: (() => void) | undefined;
  let isLow = false;
  let isStranded = false;
  const aftermath = createAftermath({
    timers,
    powerOff: (milliseconds) => powerOff(milliseconds, 'unfinished'),
    die: () => die(true),
    loseConnection,
    crash: () => tell('custom.crash', {}),
  });

  function meet(kind: Occasion['kind'], key: number | string): Fault | undefined {
    const occasion: Occasion = { kind, key, phase: phase?.() };
    const fault = chances.on(occasion);
    if (fault) onPlayed(fault, occasion);
    return fault;
  }

  /** Runs a task after a pause, unless the device has lost its connection meanwhile. */
  function later(milliseconds: number, task: () => void): void {
    const mine = connections;
    timers.after(milliseconds, () => {
      if (mine === connections && link.online && !stopped) task();
    });
  }

  function connectTwin(): void {
    const other = createLink({
      url,
      deviceId,
      credential,
      clean: false,
      timers,
      // The twin receives messages and ignores them.
      onMessage: () => undefined,
      onBatch: () => {},
      onForeign: (topic) => onViolation(`a message came on ${topic}, which is not a topic of device ${deviceId}`),
      onOnline: () => {},
      onClose: () => {
        leaves();
        if (twin === other) twin = undefined;
      },
    });
    twin = other;
    const leaves = timers.after(TWIN_STAYS, () => void other.cut());
    other.open().catch(() => {});
  }

  async function tryWrongCredential(): Promise<void> {
    look('login-wrong');
    try {
      await link.open({ credential: `not ${credential}`.slice(0, credential.length) });
    } catch (error) {
      if (isRefusal(error)) return;
      throw error;
    }
    onViolation('the service accepted a wrong credential');
    await link.cut();
  }

  function play(plan: Plan, fault: Fault): boolean {
    const { kind, delay } = fault;
    // The fault happens once: when the service repeats the command, the device carries it out.
    plan.fault = undefined;
    onPlayed(fault, plan.occasion);
    if (kind === 'half-open') {
      if (link.online) {
        link.freeze();
        later(delay, () => void link.cut());
      }
      return true;
    }
    if (kind === 'bricks') {
      recovers = timers.after(delay, () => die(false));
      die(true);
      return false;
    }
    powerOff(delay, kind === 'reboots-and-forgets' ? 'everything' : 'unfinished');
    return false;
  }

  /** The networks of a command do not reach the service. Returns for how long, unless the device goes back. */
  function loseNetwork(plan: Plan | undefined): number {
    if (plan?.fault?.kind !== LOSES) return 0;
    const { fault } = plan;
    plan.fault = undefined;
    onPlayed(fault, plan.occasion);
    isStranded = true;
    strand(true);
    return fault.delay;
  }

  function isBack(): void {
    if (!isStranded || stopped) return;
    isStranded = false;
    strand(false);
  }

  return {
    async open() {
      connections += 1;
      const fault = meet('connection', connections);
      if (fault?.kind === 'wrong-credential') await tryWrongCredential();
      await link.open();
      if (fault?.kind === 'two-with-one-identity') later(fault.delay, connectTwin);
      if (fault?.kind !== 'slow-reader') return;
      link.readSlowly(BYTES_PER_SECOND);
      timers.after(fault.delay, () => link.readSlowly(null));
    },

    begins({ plan }) {
      const { fault, occasion, download } = plan;
      if (download) onPlayed(download, { ...occasion, kind: 'download' });
      if (!fault || DURING_DOWNLOAD.includes(fault.kind)) return true;
      if (fault.kind === 'battery-low') {
        onPlayed(fault, occasion);
        isLow = true;
        reportStatus();
        tell('custom.batteryLow', { level: FLAT.level });
        return true;
      }
      if (AFTERMATHS.includes(fault.kind) || fault.kind === LOSES) return true;
      if (!PLANNED.includes(fault.kind)) return play(plan, fault);
      onPlayed(fault, occasion);
      return true;
    },

    progress(transactionId, percent) {
      const plan = planOf(transactionId);
      if (percent > 0 && plan?.fault && DURING_DOWNLOAD.includes(plan.fault.kind)) play(plan, plan.fault);
    },

    tries: (transactionId) => void loseNetwork(planOf(transactionId)),
    isBack,

    concluded({ transactionId, status }) {
      const plan = planOf(transactionId);
      if (isStranded && status === 'failed') isBack();
      if (status === 'succeeded' && plan?.fault?.kind === LOSES)
        // After the answer, which still goes over the former network.
        recovers = timers.after(loseNetwork(plan), isBack);
      if (!plan || status !== 'succeeded' || plan.occasion.version === undefined) return;
      aftermath.stop(); // another version does not do it
      if (!plan.fault || !AFTERMATHS.includes(plan.fault.kind)) return;
      onPlayed(plan.fault, plan.occasion);
      aftermath.begin(plan.fault);
    },

    worn: () => ({ charge: isLow ? FLAT : aftermath.charge(), filled: aftermath.filled() }),

    wrongBy() {
      happened += 1;
      if (!meet('event', happened)) return 0;
      return happened % 2 === 0 ? DAY : -DAY;
    },

    isLate: (key) => meet('upload', key) !== undefined,

    stop() {
      stopped = true;
      aftermath.stop();
      recovers?.();
      void twin?.cut();
    },
  };
}

import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Fence } from '../../platform/cluster/ownership.ts';
import { Superseded } from '../../platform/cluster/superseded.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import { noteEnd } from './session-repository.ts';
import type { StoredPacket } from './stored-packet.ts';
import { deleteDueWill, dueWills, nextWillAt, putAllWillsOff, putWillOff } from './will-repository.ts';

/** Milliseconds until the next look when another node may have put a will off meanwhile, or a write of this one has failed. */
const AGAIN_MS = 10_000;
const PAGE = 100;

/** How a connection ended whose session goes on. */
export interface Ending {
  deviceId: string;
  /** Seconds after which the session ends; null: it does not end by itself. */
  expirySeconds: number | null;
  /** Seconds after which the will is due; null: there is none, or it was carried out. */
  willSeconds: number | null;
  fence: Fence | undefined;
}

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  /** Whether this node is one of several: others may have connections whose wills are not due. */
  isOneOfMany: boolean;
  /** Whether this node looks for due wills of all nodes. */
  leads(): boolean;
  carryOut(will: StoredPacket): Promise<void>;
}

export type DelayedWills = ReturnType<typeof createDelayedWills>;

/**
 * Notes when connections of MQTT 5 have ended, from which their sessions count their time, and carries out wills with a
 * delay [MQTT-3.1.2-8]: a login of the device before that removes its will. The times are rows, so they hold over a restart;
 * a will is deleted before it is carried out, so that no two nodes do it. The delay of a connection that a stop or a crash
 * has ended begins when that is found.
 */
export function createDelayedWills({ database, clock, log, isOneOfMany, leads, carryOut }: Parts) {
  /** The endings that are not stored yet, with their times. */
  const unstored = new Map<string, Ending & { at: number }>();
  const work = createWork();
  let cancel = (): void => undefined;
  let armedFor = Number.POSITIVE_INFINITY;
  let stopped = false;

  async function store(one: Ending & { at: number }): Promise<void> {
    const { deviceId, expirySeconds, willSeconds, fence, at } = one;
    const write = database.transact(
      async (unit) => {
        await fence?.(unit);
        if (expirySeconds !== null) noteEnd(unit, deviceId, expirySeconds, at);
        if (willSeconds !== null) putWillOff(unit, deviceId, at + willSeconds * 1_000_000);
      },
      { device: deviceId, pace: 'crowd' },
    );
    await write.catch((error: unknown) => {
      if (!(error instanceof Superseded)) throw error; // a newer connection of the device has its own end
    });
    if (unstored.get(deviceId) === one) unstored.delete(deviceId);
  }

  /** One that cannot be stored holds up no other. */
  async function tryToStore(one: Ending & { at: number }): Promise<void> {
    await store(one).catch((err: unknown) => {
      if (!isDatabaseAway(err))
        log.warn({ err, deviceId: one.deviceId }, 'the end of a session could not be stored; trying again');
      arm(AGAIN_MS);
    });
  }

  async function look(): Promise<void> {
    for (const one of unstored.values()) await tryToStore(one);
    if (isOneOfMany) arm(AGAIN_MS);
    if (!leads()) return;
    for (let page = PAGE; page === PAGE && !stopped; ) {
      const now = clock.now();
      const due = await dueWills(database.read, now, PAGE);
      page = due.length;
      for (const device of due) {
        const will = await database.transact((unit) => deleteDueWill(unit, device, now), { device, pace: 'crowd' });
        if (will) await carryOut(will);
      }
    }
    const next = await nextWillAt(database.read);
    if (next !== null) arm((next - clock.now()) / 1000);
  }

  function arm(milliseconds: number): void {
    const wait = Math.ceil(Math.max(0, milliseconds));
    const at = clock.now() + wait * 1000;
    if (stopped || at >= armedFor) return;
    cancel();
    armedFor = at;
    cancel = clock.after(wait, () => {
      armedFor = Number.POSITIVE_INFINITY;
      work.begun();
      void look()
        .catch((err: unknown) => {
          log.warn({ err }, 'the wills that are due could not be read or carried out; trying again');
          arm(AGAIN_MS);
        })
        .finally(work.ended);
    });
  }

  return {
    /** Notes the end of a connection. Resolves when it is stored, or will be stored later. */
    async ended(ending: Ending): Promise<void> {
      if (ending.expirySeconds === null && ending.willSeconds === null) return;
      const one = { ...ending, at: clock.now() };
      unstored.set(ending.deviceId, one);
      work.begun();
      await tryToStore(one);
      work.ended();
      if (one.willSeconds !== null) arm(one.willSeconds * 1000);
    },

    /** Called when a device has its session again: an end that is not stored yet is one of before. */
    isBack: (deviceId: string): void => void unstored.delete(deviceId),

    async start(): Promise<void> {
      if (!isOneOfMany) await database.transact((unit) => putAllWillsOff(unit, clock.now()));
      arm(0);
    },
    idle: work.idle,
    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      cancel();
      await work.idle();
    },
  };
}

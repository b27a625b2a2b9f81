import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LostTime, ServiceControl } from '@lapel/device-sim/service/service-fault';
import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Service } from '../../src/service.ts';
import { rolloutsIn } from './database-eyes.ts';
import { PARTS } from './parts.ts';
import type { Restore } from './restores.ts';
import type { Program } from './time.ts';
import { createTurns } from './turns.ts';
import type { Witness } from './witness.ts';
import { world } from './world.ts';
import { MQTT } from './world-parts.ts';

/** Where the programs of a world find the service. */
export const ADDRESSES = { api: 8080, admin: 8081, mqtt: MQTT, objects: 8082 } as const;

/** Seconds in which everything comes to its end when nobody asks for more. */
const PATIENCE = 120;
/** The most starts on a full disk. */
const MOST_STARTS = 30;

const HEADER = 32;
const FRAME_HEADER = 24;
const DATABASE = 'lapel.db';

/** Milliseconds for which the disk is slow after a restore. */
const SLOW_FOR = 8_000;
/** Milliseconds for which somebody looks at a restored service before its webhooks are sent. */
const LOOKED_AT = 5_000;

/** The commands `lapel backup` and `lapel restore`. */
interface Backups {
  make(dataDir: string, folder: string): Promise<unknown>;
  restore(folder: string, dataDir: string): Promise<unknown>;
}

interface Life {
  readonly program: Program;
  readonly folder: string;
  /** The service, once it has started. */
  service: Service | undefined;
}

/** Bytes of a database's log that the disk has after a power cut: the frames that were written, and perhaps some more. */
function logOnDisk(folder: string, more: number): Buffer {
  const { logs } = world();
  const file = join(folder, DATABASE);
  const log = readFileSync(`${file}-wal`);
  const known = logs.get(file);
  if (!known || log.length < HEADER) return log;
  const pageSize = log.readUInt32BE(8);
  const bytesOf = (frames: number): number => (frames === 0 ? 0 : HEADER + frames * (FRAME_HEADER + pageSize));
  // After a new round of the log began, the database has all that the disk had of the former one.
  if (log.toString('hex', 16, 24) !== known.salt) return log.subarray(0, Math.trunc(more * Math.min(log.length, 4096)));
  const has = bytesOf(known.syncedFrames);
  return log.subarray(0, has + Math.trunc(more * (log.length - has)));
}

/**
 * Makes the data folder that a crash leaves. The connections of the program that was killed are still open in this process,
 * so the database is a copy; all other files are moved, and stay the same files.
 */
function afterCrash(from: string, to: string, more: number): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name === DATABASE) copyFileSync(join(from, name), join(to, name));
    else if (!name.startsWith(`${DATABASE}-`) && !name.startsWith('lock.db'))
      renameSync(join(from, name), join(to, name));
  }
  writeFileSync(join(to, `${DATABASE}-wal`), logOnDisk(from, more));
}

/** Whether a part, or several of them, could not end because the database was away. */
const isAway = (error: unknown): boolean =>
  error instanceof SuppressedError ? isAway(error.error) && isAway(error.suppressed) : isDatabaseAway(error);

/** Ends a service as its program does at SIGTERM: it answers on for a moment, and then closes. */
async function endService(service: Service | undefined): Promise<void> {
  try {
    await service?.leave();
    await service?.[Symbol.asyncDispose]();
  } catch (error) {
    if (!isAway(error)) throw error; // the last writes have no room on a full disk; its program ends all the same
  }
}

/** The service of a world: it is started, killed, stopped, and made to stand still. */
export function createWorldService({
  root,
  startService,
  newDatabase,
  backups,
  witness,
}: {
  /** A folder for its data, on the disk of the machine. */
  root: string;
  startService(dataDir: string, isHeld?: boolean): Promise<Service>;
  newDatabase: Buffer;
  backups: Backups;
  witness: Pick<
    Witness,
    | 'opened'
    | 'closes'
    | 'killed'
    | 'restored'
    | 'hasActivated'
    | 'attempts'
    | 'heldWebhooks'
    | 'startedAgain'
    | 'met'
    | 'frozen'
    | 'isOver'
    | 'ends'
  >;
}) {
  const { time, network, logs, disk, newProgram, randomOf, begin: begins } = world();
  const chance = randomOf(PARTS.faults);
  let lives = 0;
  let life: Life | undefined;
  const crashed = Promise.withResolvers<string>();
  const crashes: string[] = [];

  const folderOf = (number: number): string => join(root, String(number));

  async function start(isHeld: boolean): Promise<void> {
    lives += 1;
    const program = newProgram(`service ${lives}`);
    const folder = folderOf(lives);
    const own: Life = { program, folder, service: undefined };
    life = own;
    own.service = await time.within(program, () => startService(folder, isHeld));
    witness.opened(join(folder, DATABASE));
  }

  /** Starts the service, again after a second when it could not start: a supervisor would do so. */
  async function begin(isHeld = false): Promise<void> {
    for (let tries = 1; ; tries += 1)
      try {
        return await start(isHeld);
      } catch (error) {
        const isDiskFull = disk.isFull || isDatabaseAway(error);
        if (!isDiskFull || tries === MOST_STARTS || !life) throw error;
        const { program, folder } = life;
        program.isAlive = false;
        network.drop(program);
        renameSync(folder, folderOf(lives + 1));
        await wait(1_000);
      }
  }

  /** The program ends at once, wherever it is; the disk keeps the bytes that it has, and perhaps some more. */
  function kill(): void {
    if (!life) return;
    const { program, folder } = life;
    program.isAlive = false;
    network.drop(program);
    for (const file of program.files ?? []) file.close().catch(() => undefined);
    witness.killed();
    afterCrash(folder, folderOf(lives + 1), chance() < 0.5 ? 0 : chance());
    logs.get(join(folder, DATABASE))?.close();
    logs.delete(join(folder, DATABASE));
    rmSync(folder, { recursive: true });
    life = undefined;
  }

  async function stop(): Promise<void> {
    const ending = life;
    if (!ending) return;
    witness.closes();
    const { program, folder, service } = ending;
    const ended = Promise.withResolvers<void>();
    time.plan(0, 'SIGTERM', () => void endService(service).then(ended.resolve, ended.reject), program);
    await ended.promise;
    program.isAlive = false;
    network.drop(program);
    renameSync(folder, folderOf(lives + 1));
    life = undefined;
  }

  const wait = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => time.plan(milliseconds, 'fault over', resolve, time.around));

  function freeze(lasts: number): Promise<void> {
    witness.met('freeze');
    if (life) life.program.resumesAt = time.now + lasts;
    witness.frozen(time.now + lasts);
    return wait(lasts);
  }

  const inTurn = createTurns(() => wait(0));

  const onAway: ((isAway: boolean) => void)[] = [];
  const tellAway = (isAway: boolean): void => {
    for (const told of onAway) told(isAway);
  };

  async function end({ fault, lasts }: Parameters<ServiceControl['play']>[0]): Promise<void> {
    witness.met(fault);
    tellAway(true);
    if (fault === 'kill') kill();
    else await stop();
    await wait(lasts);
    await begin();
    tellAway(false);
  }

  let isOver = false;
  let hasEnded = false;
  const onRestored: ((lost: LostTime) => void)[] = [];

  /** Makes a backup; resolves to the moment at which it was begun, or to undefined if the service is away for good. */
  async function backUp(folder: string): Promise<number | undefined> {
    if (!life) return undefined;
    witness.met('backup');
    const { now } = time;
    await backups.make(life.folder, folder);
    return now;
  }

  /** Looks at the restored service, whose webhooks are held. */
  async function lookAt(): Promise<void> {
    const before = witness.attempts();
    await wait(LOOKED_AT);
    witness.heldWebhooks(before, witness.attempts());
    await stop();
    await begin();
  }

  /** Ends the service and restores a backup into a new folder; looks at the service first, if webhooks are held. */
  async function restore(folder: string, { isKilled, lasts, isHeld, isSlow }: Restore, begunAt: number): Promise<void> {
    witness.met('restore');
    tellAway(true);
    if (isKilled) kill();
    else await stop();
    await wait(lasts);
    rmSync(folderOf(lives + 1), { recursive: true, force: true });
    await backups.restore(folder, folderOf(lives + 1));
    witness.restored();
    const ran = rolloutsIn(join(folderOf(lives + 1), DATABASE));
    for (const told of onRestored) told({ begunAgo: time.now - begunAt });
    if (isSlow) begins({ kind: 'slow-disk', lasts: SLOW_FOR });
    await begin(isHeld);
    witness.startedAgain(ran);
    tellAway(false);
    if (isHeld) await lookAt();
  }

  mkdirSync(folderOf(1), { recursive: true });
  writeFileSync(join(folderOf(1), DATABASE), newDatabase);
  return {
    begin,
    kill,
    stop,
    get life(): Life | undefined {
      return life;
    },
    /** Plays a backup and its restore. Nothing else ends the service meanwhile. */
    async playRestore(planned: Restore, devices: number): Promise<void> {
      const folder = join(root, 'backup');
      await wait(planned.backupAt);
      for (let waits = 0; waits < PATIENCE && !witness.hasActivated(devices); waits += 1) await wait(500);
      if (!witness.hasActivated(devices)) return; // otherwise the restore would take back the activation of a device
      const begunAt = await inTurn(() => backUp(folder));
      await wait(planned.after);
      await inTurn(async () => {
        if (begunAt !== undefined && !isOver) await restore(folder, planned, begunAt);
      });
    },
    control: {
      onRestored: (told) => void onRestored.push(told),
      onAway: (told) => void onAway.push(told),
      crashes,
      crashed: crashed.promise,
      play(fault) {
        if (fault.fault === 'freeze') return freeze(fault.lasts);
        return inTurn(async () => {
          if (!hasEnded) await end(fault);
        });
      },
      async [Symbol.asyncDispose]() {
        isOver = true;
        // From its turn on nothing else ends the service, so what it has begun can come to its end.
        await inTurn(async () => {
          hasEnded = true;
          for (let waits = 0; waits < PATIENCE && !witness.isOver(); waits += 1) await wait(1_000);
          witness.ends(time.now);
          await stop();
        });
      },
    } satisfies ServiceControl,
  };
}

export type WorldService = ReturnType<typeof createWorldService>;

let present: WorldService | undefined;
export const useService = (service: WorldService): void => {
  present = service;
};
/** The control of the world's service, for the simulator. */
export function control(): ServiceControl {
  if (!present) throw new Error('the world has no service');
  return present.control;
}

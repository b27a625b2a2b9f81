import './file-access.ts';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import type { RunRecord } from '@lapel/device-sim/report/record';
import type { Scale } from '@lapel/device-sim/scenario/scale';
import type { Ids } from '../../src/runtime/ids.ts';
import { patchedFiles } from '../breakages/planted-copy.ts';
import { createAiming } from './aiming.ts';
import { FAULTS } from './faults.ts';
import { install } from './install.ts';
import { PARTS } from './parts.ts';
import { type Deed, isDeed, isSpell, isTimeRight, type Plan } from './plan.ts';
import { useCommands } from './present-witness.ts';
import { ADMIN_TOKEN, local, runOptions } from './run-options.ts';
import { ADDRESSES, createWorldService, useService } from './service.ts';
import { bytesOf, uuidOf } from './timers.ts';
import { createWitness, type Seen } from './witness.ts';
import { beginWorld } from './world.ts';

beginWorld(0); // while modules are loaded
const { LAPEL_SIMULATED_BREAKAGE: planted } = process.env;
const breakage = FAULTS.find(({ name }) => name === planted);
await install(patchedFiles(breakage?.patches ?? []));
// Everything below is loaded in the world, so that it gets the world's time and sockets.
const { createAdministrators } = await import('./administrators.ts');
const { createEndpointCustomer } = await import('./endpoint-customer.ts');
const { run } = await import('@lapel/device-sim/run');
const { readScenario } = await import('@lapel/device-sim/scenario/read-scenario');
const { scaled } = await import('@lapel/device-sim/scenario/scale');
const { readConfig } = await import('../../src/config.ts');
const { createTime, systemClock } = await import('../../src/runtime/clock.ts');
const { idsFrom } = await import('../../src/runtime/ids.ts');
const { createLog } = await import('../../src/runtime/log.ts');
const { createService } = await import('../../src/service.ts');
const { openSqlite } = await import('../../src/platform/database/sqlite/open-sqlite.ts');
const { createObjectStore } = await import('../../src/platform/objects/object-store.ts');
const { makeBackup } = await import('../../src/platform/backup/make-backup.ts');
const { restoreBackup } = await import('../../src/platform/backup/restore-backup.ts');
const undici = await import('undici');

/** A folder in memory: the disk of the world loses bytes by itself, so that the machine's need not keep them. */
const MEMORY = '/dev/shm';

/** A database with all tables and no rows: to apply all migrations takes many times as long as to copy it. */
async function emptyDatabase(): Promise<Buffer> {
  const folder = mkdtempSync(join(MEMORY, 'lapel-world-'));
  try {
    await beginWorld(0).time.run(openSqlite({ folder, nowMicros: 0 }).close());
    return readFileSync(join(folder, 'lapel.db'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
const newDatabase = await emptyDatabase();

/** Uses the client of object stores: it reads files of the machine at its first use, and remembers them in later worlds. */
async function useObjectStore(): Promise<void> {
  const store = createObjectStore({
    endpoint: local('http', 1),
    region: 'local',
    bucket: 'none',
    credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
    clock: systemClock,
  });
  await store.uploadUrl('none', { expiresIn: 60 });
  await store.head('none').catch(() => undefined); // nobody is there
}
await beginWorld(0).time.run(useObjectStore());

/** The length of a text that is hashed at once: to hash each event alone takes as long as the event. */
const HASHED_AT_ONCE = 16_384;

/** How a world went. */
export interface Played {
  readonly seed: number;
  readonly record: RunRecord;
  readonly seen: Seen;
  /** A hash of all that happened, in its order. */
  readonly trace: string;
  readonly events: number;
  /** Milliseconds of the world. */
  readonly milliseconds: number;
}

/** Plays the world of a plan. */
export async function play(
  plan: Plan,
  { scale = {}, log, onEvent }: { scale?: Scale; log?: (line: string) => void; onEvent?: (line: string) => void } = {},
): Promise<Played> {
  const { seed, scenario: file, spells, deeds, aims } = plan;
  const scenario = scaled(readScenario(JSON.stringify(file), file.name).scenario, scale);
  const played = beginWorld(seed, spells, (event) => witness.met(event), plan.pace);
  const { time, randomOf, begin } = played;
  // Connections that were kept open lead to a world that is over.
  undici.setGlobalDispatcher(new undici.Agent());
  http.globalAgent = new http.Agent({ keepAlive: true, timeout: 5_000 });
  const root = mkdtempSync(join(MEMORY, 'lapel-world-'));
  const trace = createHash('sha256');
  /** The events that are not in the hash yet. */
  let lines = '';
  function hashLines(): void {
    trace.update(lines);
    lines = '';
  }
  let events = 0;
  const witness = createWitness(plan);
  useCommands({ commands: witness.commands, inFlight: plan.inFlight });
  let aiming: ReturnType<typeof createAiming> | undefined;
  played.broken = witness.broken;
  played.committed = () => {
    if (plan.pace === undefined) witness.commands.committed();
    aiming?.look();
  };
  time.onEvent = (at, program, kind) => {
    events += 1;
    witness.passed(at);
    aiming?.passed();
    const line = `${at.toFixed(3)} ${program} ${kind}\n`;
    lines += line;
    if (lines.length > HASHED_AT_ONCE) hashLines();
    onEvent?.(line);
  };
  try {
    // The service's own draw bytes in advance, which would outlast a world.
    const chance = randomOf(PARTS.ids);
    const bytes = (count: number): Buffer => bytesOf(chance, count);
    const ids: Ids = {
      next: (prefix, nowMicros) => `${idsFrom(prefix, nowMicros)}${bytes(10).toString('hex')}`,
      secret: (count = 32) => bytes(count).toString('base64url').replace(/^-/, 'a'),
      bytes,
      uuid: () => uuidOf(chance),
    };
    const told = (line: string): void => {
      witness.logged(time.now, line);
      log?.(line);
    };
    const service = createWorldService({
      root,
      newDatabase,
      witness,
      backups: {
        make: (dataDir, folder) =>
          makeBackup({ clock: systemClock, version: 'world', dataDir, folder, withObjects: true }),
        restore: (folder, dataDir) => restoreBackup({ folder, dataDir }),
      },
      async startService(dataDir, isHeld = false) {
        const config = readConfig({
          env: {
            LAPEL_DATA_DIR: dataDir,
            LAPEL_ADMIN_TOKEN: ADMIN_TOKEN,
            LAPEL_HTTP_PORT: String(ADDRESSES.api),
            LAPEL_ADMIN_PORT: String(ADDRESSES.admin),
            LAPEL_MQTT_PORT: String(ADDRESSES.mqtt),
            LAPEL_OBJECTS_PORT: String(ADDRESSES.objects),
            LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true',
            LAPEL_WEBHOOKS_HELD: String(isHeld),
          },
        });
        return createService(config, {
          clock: { ...systemClock, now: createTime(Date.now, () => performance.now()) },
          ids,
          keepsHistory: false,
          log: createLog({ level: log ? 'info' : 'error', destination: { write: told } as never }),
        });
      },
    });
    useService(service);
    const endpoint = createEndpointCustomer({
      apiUrl: local('http', ADDRESSES.api),
      chance: randomOf(PARTS.endpoints),
      broken: witness.broken,
      isTimeRight: isTimeRight(plan),
    });
    service.control.onRestored(endpoint.restored);
    /** The customer gets its access in the answer that made its application. */
    const beginEndpoint = (answer: ReturnType<typeof undici.fetch>): void => {
      answer
        .then((found) => (found.status === 201 ? found.clone().json() : undefined))
        .then((access) => access && endpoint.begin(access as Parameters<typeof endpoint.begin>[0]))
        .catch(() => undefined);
    };
    globalThis.fetch = ((input: string | URL, init?: RequestInit) => {
      witness.called(init?.method ?? 'GET', String(input));
      const answer = undici.fetch(input, init as never);
      if (plan.hasEndpoint && init?.method === 'POST' && String(input).endsWith('/applications')) beginEndpoint(answer);
      return answer;
    }) as typeof fetch;
    const administrators = createAdministrators(
      { baseUrl: local('http', ADDRESSES.admin), token: ADMIN_TOKEN },
      randomOf(PARTS.administrators),
      (milliseconds, task) => time.plan(milliseconds, 'administrator', task),
      () => service.control.play({ fault: 'restart', lasts: 0, node: null }),
      ({ message }) => witness.mistaken(message),
    );
    const act = (does: Deed['does']): void => {
      witness.met(does);
      administrators.do(does);
    };
    aiming = createAiming({
      aims,
      now: () => time.now,
      isIn: witness.isIn,
      // A commit is an event of the service, and what is aimed at it is none.
      plan: (milliseconds, task) => time.plan(milliseconds, 'aimed', task, time.around),
      happen({ does, lasts, by = 0 }) {
        if (isSpell(does)) return begin({ kind: does, lasts, by });
        if (isDeed(does)) return act(does);
        service.control.play({ fault: does, lasts, node: null }).catch(() => undefined); // a start that fails ends the world by itself
      },
    });
    const record = await time.run(
      (async () => {
        await service.begin();
        for (const { at, does } of deeds) time.plan(at, does, () => act(does));
        const devices = scenario.groups.reduce((sum, { count }) => sum + count, 0);
        if (plan.restore)
          service.playRestore(plan.restore, devices).catch((error: Error) => witness.mistaken(error.message));
        const context = { stopped: new AbortController().signal, stream: { write: () => undefined } };
        if (plan.beside) {
          const { name } = plan.beside;
          const neighbour = readScenario(JSON.stringify(plan.beside), name).scenario;
          run(runOptions(neighbour, 'neighbour'), context).then(
            ({ record: { notRun } }) => notRun.length > 0 && witness.mistaken(`of the neighbour: ${notRun.join('; ')}`),
            (error: Error) => witness.mistaken(error.message),
          );
        }
        const { record: made } = await run(runOptions(scenario), context);
        return made;
      })(),
    );
    hashLines();
    return { seed, record, seen: witness.seen(), trace: trace.digest('hex'), events, milliseconds: time.now };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

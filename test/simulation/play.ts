import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';

import { join } from 'node:path';
import type { RunRecord } from '@lapel/device-sim/report/record';
import type { Scale } from '@lapel/device-sim/scenario/scale';
import type { Ids } from '../../src/runtime/ids.ts';
import { BREAKAGES } from '../breakages/breakages.ts';
import { patchedFiles } from '../breakages/planted-copy.ts';
import { install } from './install.ts';
import { PARTS } from './parts.ts';
import type { Plan } from './plan.ts';
import { ADDRESSES, createWorldService, useService } from './service.ts';
import { bytesOf, uuidOf } from './timers.ts';
import { beginWorld, RECEIVER } from './world.ts';

beginWorld(0); // while modules are loaded
const { LAPEL_SIMULATED_BREAKAGE: planted } = process.env;
const breakage = BREAKAGES.find(({ name }) => name === planted);
await install(patchedFiles(breakage?.patches ?? []));
// Everything below is loaded in the world, so that it gets the world's time and sockets.
const { run } = await import('@lapel/device-sim/run');
const { readScenario } = await import('@lapel/device-sim/scenario/read-scenario');
const { scaled } = await import('@lapel/device-sim/scenario/scale');
const { readConfig } = await import('../../src/config.ts');
const { createTime, systemClock } = await import('../../src/runtime/clock.ts');
const { idsFrom } = await import('../../src/runtime/ids.ts');
const { createLog } = await import('../../src/runtime/log.ts');
const { createService } = await import('../../src/service.ts');
const { openSqlite } = await import('../../src/platform/database/sqlite/open-sqlite.ts');
const undici = await import('undici');
globalThis.fetch = undici.fetch as unknown as typeof fetch;

const ADMIN_TOKEN = 'the administrator of a simulated world';
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

/** How a world went. */
export interface Played {
  readonly seed: number;
  readonly record: RunRecord;
  /** A hash of all that happened, in its order. */
  readonly trace: string;
  readonly events: number;
  /** Milliseconds of the world. */
  readonly milliseconds: number;
}

const local = (scheme: string, port: number): string => `${scheme}://127.0.0.1:${port}`;

/** Plays the world of a plan. */
export async function play(
  { seed, scenario: file, spells }: Plan,
  { scale = {}, log, onEvent }: { scale?: Scale; log?: (line: string) => void; onEvent?: (line: string) => void } = {},
): Promise<Played> {
  const scenario = scaled(readScenario(JSON.stringify(file), file.name).scenario, scale);
  const { time, randomOf } = beginWorld(seed, spells);
  // Connections that were kept open lead to a world that is over.
  undici.setGlobalDispatcher(new undici.Agent());
  http.globalAgent = new http.Agent({ keepAlive: true, timeout: 5_000 });
  const root = mkdtempSync(join(MEMORY, 'lapel-world-'));
  const trace = createHash('sha256');
  let events = 0;
  time.onEvent = (at, program, kind) => {
    events += 1;
    const line = `${at.toFixed(3)} ${program} ${kind}\n`;
    trace.update(line);
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
    const service = createWorldService({
      root,
      newDatabase,
      async start(dataDir) {
        const config = readConfig({
          env: {
            LAPEL_DATA_DIR: dataDir,
            LAPEL_ADMIN_TOKEN: ADMIN_TOKEN,
            LAPEL_HTTP_PORT: String(ADDRESSES.api),
            LAPEL_ADMIN_PORT: String(ADDRESSES.admin),
            LAPEL_MQTT_PORT: String(ADDRESSES.mqtt),
            LAPEL_OBJECTS_PORT: String(ADDRESSES.objects),
            LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true',
          },
        });
        return createService(config, {
          clock: { ...systemClock, now: createTime(Date.now, () => performance.now()) },
          ids,
          keepsHistory: false,
          log: createLog({ level: log ? 'info' : 'silent', ...(log && { destination: { write: log } as never }) }),
        });
      },
    });
    useService(service);
    const stopped = new AbortController();
    const record = await time.run(
      (async () => {
        await service.begin();
        const { record: made } = await run(
          {
            scenario,
            run: 'world',
            shard: null,
            json: true,
            reportFolder: undefined,
            baseline: undefined,
            decisionsFile: undefined,
            recordFile: undefined,
            wait: 30_000,
            clean: false,
            cleanSessions: false,
            client: 'lean',
            stateFolder: undefined,
            downloadFolder: undefined,
            trustedKeys: [],
            mqtt: [local('mqtt', ADDRESSES.mqtt)],
            api: [local('http', ADDRESSES.api)],
            accounts: {
              kind: 'register',
              adminUrl: local('http', ADDRESSES.admin),
              developerId: 'world',
              token: ADMIN_TOKEN,
              code: undefined,
              csr: false,
            } as never,
            saveFile: undefined,
            caFile: undefined,
            certificateFolder: undefined,
            application: undefined,
            authenticationKey: undefined,
            webhook: { host: '127.0.0.1', port: RECEIVER, publicUrl: undefined },
            service: { commands: ['the service of the world'], faultCommand: undefined },
          },
          { stopped: stopped.signal, stream: { write: () => undefined } },
        );
        return made;
      })(),
    );
    return { seed, record, trace: trace.digest('hex'), events, milliseconds: time.now };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

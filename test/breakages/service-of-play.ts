import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '@lapel/tools/harness/free-port';
import { ADMIN_TOKEN, type ServiceProcess, startProcess } from '../flow/service-process.ts';
import type { Play } from './plays.ts';

const LOOK_MS = 50;
const CREATED = /^lapel_transactions_created_total\{[^}]*\} (\d+)/gm;

/** The service of one run, on ports of its own. It can be killed during the run. */
export interface ServiceOfPlay extends AsyncDisposable {
  readonly addresses: ServiceProcess['addresses'];
  /** Resolves when the run's kill and restart are over, or when `stopped` is aborted before the kill. */
  killAsPlanned(kill: Play['kill'], stopped: AbortSignal): Promise<void>;
}

/** The commands that the process has stored since its start; 0 while it cannot say. */
async function storedCommands(admin: string): Promise<number> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const text = await fetch(`${admin}/metrics`, { headers }).then(
    (answer) => answer.text(),
    () => '',
  );
  return [...text.matchAll(CREATED)].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Starts the program in an empty data folder. Rejects with its output if it ends before it listens. */
export async function startServiceOfPlay(main: string, folder: string): Promise<ServiceOfPlay> {
  const [http = 0, admin = 0, mqtt = 0, objects = 0] = await freePorts(4);
  const env = {
    LAPEL_DATA_DIR: join(folder, 'data'),
    LAPEL_HTTP_PORT: String(http),
    LAPEL_ADMIN_PORT: String(admin),
    LAPEL_MQTT_PORT: String(mqtt),
    LAPEL_OBJECTS_PORT: String(objects),
    LAPEL_ALLOW_HTTP_WEBHOOKS: 'true',
  };
  const ends: (() => unknown)[] = [];
  const start = (): Promise<ServiceProcess> =>
    startProcess({ teardown: (...all) => void ends.push(...(all as (() => unknown)[])) }, env, { main });
  let service: ServiceProcess;
  try {
    service = await start();
  } catch (error) {
    for (const end of ends) end();
    throw error;
  }
  return {
    addresses: service.addresses,

    async killAsPlanned(kill, stopped) {
      if (!kill) return;
      while ((await storedCommands(service.addresses.admin)) < kill.afterCommands) {
        if (stopped.aborted) return;
        await pause(LOOK_MS);
      }
      service.signal('SIGKILL');
      await service.closed;
      await pause(kill.pauseMs);
      service = await start();
    },

    async [Symbol.asyncDispose]() {
      for (const end of ends) end();
      await service.closed;
    },
  };
}

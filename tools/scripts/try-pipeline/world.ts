import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fleet } from '@lapel/device-sim/library/sim';
import { endingWithParent } from '../../harness/ending-with-parent.ts';
import { freePorts } from '../../harness/free-port.ts';
import { folderIn } from './runner.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TOKEN = 'a token of administrators that nobody else knows';
const LOOK_AGAIN_MS = 50;

/** A service of its own process, with an application and simulated cameras that install what they get. */
export async function startPipelineWorld(folder: string, count: number) {
  const [http, admin, mqtt, objects] = await freePorts(4);
  const addresses = {
    url: `http://127.0.0.1:${http}`,
    admin: `http://127.0.0.1:${admin}`,
    mqtt: `mqtt://127.0.0.1:${mqtt}`,
  };
  const env = {
    ...process.env,
    LAPEL_DATA_DIR: folderIn(folder, 'data'),
    LAPEL_HTTP_PORT: String(http),
    LAPEL_ADMIN_PORT: String(admin),
    LAPEL_MQTT_PORT: String(mqtt),
    LAPEL_OBJECTS_PORT: String(objects),
    LAPEL_ADMIN_TOKEN: TOKEN,
    LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true',
    LAPEL_LOG_LEVEL: 'error',
  };
  async function start() {
    const [program, ...args] = endingWithParent([process.execPath, join(ROOT, 'src/main.ts'), 'serve']);
    const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    const closed = once(child, 'close');
    for (;;) {
      const answer = await fetch(`${addresses.admin}/readyz`).catch(() => undefined);
      if (answer?.ok) return { child, closed };
      if (child.exitCode !== null) throw new Error('the service has ended');
      await pause(LOOK_AGAIN_MS);
    }
  }
  let service = await start();
  async function stop(): Promise<void> {
    service.child.kill('SIGTERM');
    await service.closed;
  }

  // The fleet makes an application of its own, with a receiver.
  const cameras = await fleet({
    service: { mqtt: addresses.mqtt, api: addresses.url, admin: addresses.admin, adminToken: TOKEN },
    count,
    activate: true,
  });
  if (!cameras.application) throw new Error('the fleet has no application');
  return {
    ...addresses,
    application: cameras.application,
    cameras,
    /** Stops the service in order, and starts it again at the same addresses when nobody needs it to be away any more. */
    async restart(isAway: Promise<void>): Promise<void> {
      await stop();
      await isAway;
      service = await start();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await cameras.close().catch(() => undefined);
      await stop();
    },
  };
}

import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectBenchDevice } from '../bench-device.ts';
import { deviceIds } from '../bench-ids.ts';
import { connectAll } from '../scale/storm.ts';
import type { Neighbour } from './neighbour.ts';

/** Work for many rows or devices, which must not delay others. */
export interface Work {
  name: string;
  prepare?(): Promise<unknown>;
  /** Does the work; resolves when it is done. */
  run(isOver: () => boolean): Promise<unknown>;
}

/** The devices that connect again, and those of the works for many devices. */
export const RECONNECTING = 2_000;
export const FLEET = 5_000;
const CANCELLED = 900;
const LOOK_MS = 50;

async function until(isDone: () => Promise<boolean>, isOver: () => boolean): Promise<void> {
  while (!isOver() && !(await isDone())) await sleep(LOOK_MS);
}

/** The works, in their order; each can be done several times. */
export function worksOf(neighbour: Neighbour, mqttPort: number): Work[] {
  const { ids, credential, ask, expired } = neighbour;
  const fleet = ids.slice(0, FLEET);
  const others = ids.slice(FLEET).values();
  let sockets: Socket[] = [];
  let imported = 700_000;
  let tagged = 0;
  let leaving = '';
  const leave = async (): Promise<void> => {
    for (const socket of sockets.splice(0)) socket.resetAndDestroy();
    await sleep(1_500); // the service stores the times of the devices after a second
  };

  return [
    {
      name: `deactivation with ${CANCELLED} commands`,
      async prepare() {
        leaving = others.next().value ?? '';
        await ask('DELETE', `/devices/${leaving}`);
        await neighbour.queue([leaving], CANCELLED, false);
      },
      async run(isOver) {
        sockets.push(await connectBenchDevice({ port: mqttPort, deviceId: leaving, credential }));
        const read = (): Promise<string> => ask('GET', `/devices/${leaving}`);
        await until(async () => (JSON.parse(await read()) as { status: string }).status === 'deactivated', isOver);
      },
    },
    {
      name: `${RECONNECTING} devices connect`,
      prepare: leave,
      async run() {
        sockets = await connectAll(mqttPort, fleet.slice(0, RECONNECTING), () => credential);
      },
    },
    {
      name: `expiry of ${FLEET} commands`,
      prepare: leave,
      async run(isOver) {
        const before = await expired();
        await neighbour.queue(fleet, 1, true);
        await until(async () => (await expired()) >= before + FLEET, isOver);
      },
    },
    {
      name: `rollout to ${FLEET} devices`,
      async run(isOver) {
        const body = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: { devices: fleet } };
        const { rolloutId } = JSON.parse(await ask('POST', '/rollouts', body)) as { rolloutId: string };
        const waiting = async (): Promise<number> => {
          const { counts } = JSON.parse(await ask('GET', `/rollouts/${rolloutId}`)) as { counts: { waiting: number } };
          return counts.waiting;
        };
        await until(async () => (await waiting()) === 0, isOver);
      },
    },
    {
      name: `import of ${FLEET} devices`,
      async run() {
        const lines = deviceIds(FLEET, imported).map((deviceId) => `${JSON.stringify({ deviceId })}\n`);
        imported += FLEET;
        const path = `/admin/v1/developers/${neighbour.name}/devices/import`;
        await ask('POST', path, lines.join(''), 'application/x-ndjson');
      },
    },
    {
      name: `tags of ${FLEET} devices`,
      async run() {
        tagged += 1;
        await ask('PATCH', '/devices/tags', { devices: {}, tags: { round: String(tagged) } });
      },
    },
  ];
}

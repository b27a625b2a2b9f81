import { setTimeout as pause } from 'node:timers/promises';
import { bluetoothChapter } from './bluetooth.ts';
import { callsChapter } from './calls.ts';
import { type Camera, comesBack, pathOf } from './cameras.ts';
import { check, promised } from './check.ts';
import type { CustomerStore } from './customer-store.ts';
import type { Results } from './results.ts';
import { softwareChapter } from './software.ts';
import type { App } from './tenant.ts';
import type { Timeline } from './timeline.ts';

interface Parts {
  app: App;
  /** The administration API. */
  admin: { url: string; token: string };
  cameras: readonly Camera[];
  results: Results;
  timeline: Timeline;
  store: CustomerStore;
  /** The URLs at which the customer's backend listens. */
  receiver: { events: string; urls: string };
  /** Stops the service and starts it again on the same data. */
  restartService(): Promise<void>;
  /** Milliseconds after each heading, so that it can be read. */
  readingTimeMs: number;
}

const wifi = (ssid: string): object[] => [{ ssid, security: 'WPA2', password: 'correct horse battery' }];

/** The tour, step by step. Throws as soon as the service does not do what was promised. */
export async function tour(parts: Parts): Promise<void> {
  const { app, cameras, results, timeline, restartService, readingTimeMs } = parts;
  const [one, two, three, four, five] = cameras as [Camera, Camera, Camera, Camera, Camera];
  const step = async (text: string): Promise<void> => {
    await pause(readingTimeMs);
    timeline.heading(text);
  };
  const activate = (camera: Camera): Promise<number> =>
    app.submit('POST', pathOf(camera), `${camera.name} (activate)`, {});
  const setWifi = (camera: Camera, ssid: string): Promise<number> =>
    app.submit('PUT', `${pathOf(camera)}/settings/wifi`, `${camera.name} settings/wifi "${ssid}"`, wifi(ssid));
  const connect = async (camera: Camera): Promise<void> => {
    await promised(camera.device.connect(), `${camera.name} connects`);
    timeline.arrow({ from: camera.name, to: 'lapel', text: 'connected' });
  };
  const readStatus = async (camera: Camera, transactionId: number, wanted: string): Promise<void> => {
    const path = `${pathOf(camera)}/transactions/${transactionId}`;
    const { status } = await app.call(
      'GET',
      path,
      200,
      (body) => `${camera.name} transaction: ${String(body['status'])}`,
      {
        transactionId,
      },
    );
    check(status === wanted, `transaction ${transactionId} is ${wanted}, not ${String(status)}`);
  };

  await step('2. Four cameras come online and are activated; camera 5 is still switched off');
  for (const camera of [one, two, three, four]) await connect(camera);
  for (const camera of [one, two, three, four]) await results.expect(await activate(camera), 'succeeded');
  const { status } = await app.call('GET', pathOf(one), 200, (body) => `camera 1: ${String(body['status'])}`);
  check(status === 'activated', 'camera 1 is activated');
  const unboxing = await activate(five);
  timeline.note('camera 5 is offline: its activation waits');

  await step('3. Wi-Fi for a camera that is online');
  await results.expect(await setWifi(one, 'office'), 'succeeded');
  check(one.device.state.networks[0]?.['ssid'] === 'office', 'camera 1 has the network');

  await step('4. A camera that fails');
  await results.expect(await setWifi(three, 'office'), 'failed');

  await step('5. A camera in a tunnel: commands wait, and one of them is cancelled');
  await four.device.drop();
  timeline.note('camera 4 has lost its connection');
  const mistake = await setWifi(four, 'ofice');
  const queued = await setWifi(four, 'depot');
  await app.call('DELETE', `${pathOf(four)}/transactions/${mistake}`, 204, () => 'camera 4 transaction (cancel)', {
    transactionId: mistake,
  });
  await results.expect(mistake, 'cancelled');

  await step('6. The service restarts');
  const back = Promise.all([one, two, three].map(comesBack));
  timeline.note('stopping ...');
  await restartService();
  timeline.note('started again on the same data; ids jump higher, in case the data were a restored backup');
  await promised(back, 'cameras 1, 2 and 3 come back');
  timeline.note('cameras 1, 2 and 3 have reconnected by themselves');
  await readStatus(four, queued, 'queued');

  await step('7. The missing cameras connect');
  await connect(four);
  await results.expect(queued, 'succeeded');
  await connect(five);
  await results.expect(unboxing, 'succeeded');

  await softwareChapter({ ...parts, step, connect });
  await bluetoothChapter({ ...parts, step });
  await callsChapter({ ...parts, step });
  await verifyAll({ app, cameras, results, mistake, four });
}

/** Checks the promises that hold after any course of events. */
async function verifyAll({
  app,
  cameras,
  results,
  mistake,
  four,
}: Pick<Parts, 'app' | 'cameras' | 'results'> & { mistake: number; four: Camera }): Promise<void> {
  check(!four.delivered.has(mistake), 'a cancelled command is never delivered');
  for (const { name, device, complaints } of cameras) {
    await promised(device.idle(), `${name} has nothing left to do`);
    check(complaints.length === 0, `${name} has noticed no fault of the service, but: ${complaints.join('; ')}`);
    const repeated = [...device.executions].filter(([, count]) => count !== 1);
    check(repeated.length === 0, `${name} did each command once`);
  }
  for (const eventId of cameras.flatMap(({ happened }) => happened)) {
    check(results.countOfEvent(eventId) === 1, `event ${eventId} has one webhook`);
  }
  for (const transactionId of app.transactionIds()) {
    check(results.count(transactionId) === 1, `transaction ${transactionId} has one result event`);
  }
}

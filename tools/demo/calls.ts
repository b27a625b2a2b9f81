import { movie } from '@lapel/device-sim/files/movie';
import type { Camera } from './cameras.ts';
import { check } from './check.ts';
import type { CustomerStore } from './customer-store.ts';
import type { Results } from './results.ts';
import type { App } from './tenant.ts';
import type { Timeline } from './timeline.ts';

interface Parts {
  app: App;
  cameras: readonly Camera[];
  results: Results;
  timeline: Timeline;
  store: CustomerStore;
  /** The URLs at which the customer's backend listens. */
  receiver: { events: string; urls: string };
  step(text: string): Promise<void>;
}

const CALL_MS = 250;

/** The tour's chapter about calls, their recordings, and files of the customer's own application on a camera. */
export async function callsChapter(parts: Parts): Promise<void> {
  const { app, cameras, results, timeline, store, receiver, step } = parts;
  const [one, , , , five] = cameras as [Camera, Camera, Camera, Camera, Camera];

  /** Checks that the store holds everything that a camera has uploaded. */
  async function compare(camera: Camera, names: readonly string[]): Promise<void> {
    for (const name of names) {
      const file = camera.uploaded.get(name);
      const stored = await store.read(name);
      check(
        file !== undefined && stored?.equals(Buffer.concat([...movie(file)])) === true,
        `${name} is in the store, byte for byte`,
      );
    }
    timeline.note('in the store, byte for byte');
  }

  await step('15. A call, and its recording, which is uploaded to the customer’s store');
  const settings = {
    callEvent: receiver.events,
    callFileSendEvent: receiver.events,
    callRecGetMultiPresignedUrl: receiver.urls,
    fileUploadEvent: receiver.events,
    fileUploadGetUrl: receiver.urls,
  };
  await app.call('PATCH', '', 200, () => 'settings: calls, recordings and files', { body: settings });
  const callId = one.device.call({ milliseconds: CALL_MS, recorded: true, others: 1 });
  const ofCall = (data: Readonly<Record<string, unknown>>): boolean => data['callId'] === callId;
  await results.expectEvent('call.started', ofCall);
  await results.expectEvent('call.ended', ofCall);
  const saved = await results.expectEvent('recording.saved', ofCall);
  const connections = saved['connections'] as { movieFile: string }[];
  check(connections.length === 2, 'each side of the call is recorded');
  await compare(
    one,
    connections.map(({ movieFile }) => movieFile),
  );

  await step('16. A file of the customer’s application on a camera');
  const fileId = five.device.uploadFile();
  const { name } = await results.expectEvent('fileUpload.succeeded', (data) => data['fileId'] === fileId);
  await compare(five, [String(name)]);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDownloadFolder } from '@lapel/device-sim/files/download-folder';
import { createDevice, type DeviceOptions } from '@lapel/device-sim/model/device';
import { command, startBroker } from '../plain-broker.ts';
import { type FileServer, startFileServer } from './file-server.ts';

export const deviceId = '350000000000001';
export const CAMERA = 'com.example.camera';
export const apk = (name: string): Buffer =>
  readFileSync(join(import.meta.dirname, `../../../tools/demo/apks/camera-${name}.apk`));
export const first = apk('1.0.0');
export const HALF = first.length / 2;
export const order = (server: FileServer, version = '1.0.0', path?: string) => ({
  package: CAMERA,
  version,
  ...server.source(path),
});

/** A connected device that gives up soon, its download folder, and a server for each file. */
export async function bench(
  folder: string,
  contents: readonly Buffer[] = [first],
  options: Partial<DeviceOptions> = {},
) {
  await using stack = new AsyncDisposableStack();
  const broker = stack.use(await startBroker());
  const servers = await Promise.all(contents.map((content) => startFileServer(content)));
  for (const server of servers) stack.use(server);
  const device = stack.use(
    createDevice({
      deviceId,
      credential: 'secret',
      url: broker.url,
      downloads: createDownloadFolder(folder),
      reportStatus: false,
      ...options,
      patience: { attempts: 3, pause: { min: 1, max: 1 }, ...options.patience },
    }),
  );
  const violations: string[] = [];
  device.events.on('violation', (fault) => violations.push(fault));
  await device.connect();
  const parts = stack.move();
  return {
    broker,
    device,
    violations,
    server: servers[0]!,
    servers,
    send: (...args: Parameters<typeof command>) => broker.send(deviceId, command(...args)),
    /** Resolves to the answer of a transaction. */
    answer: (transactionId: number) =>
      broker.until(() => broker.acks.find((ack) => ack.transactionId === transactionId && ack.status !== 'processing')),
    /** Resolves when a transaction has reported at least so much progress. */
    progress: (transactionId: number, percent: number) =>
      broker.until(() =>
        broker.acks.some((ack) => ack.transactionId === transactionId && Number(ack['progress']) >= percent),
      ),
    /** Resolves to the n-th request of the device. */
    request: (n = 1) => broker.until(() => broker.published.filter(({ kind }) => kind === 'requests')[n - 1]?.body),
    respond: (body: object) => broker.send(deviceId, body, 'responses'),
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  };
}

export const succeeded = (transactionId: number, version: string, versionCode: number) => ({
  deviceId,
  transactionId,
  status: 'succeeded',
  result: { package: CAMERA, version, versionCode },
});

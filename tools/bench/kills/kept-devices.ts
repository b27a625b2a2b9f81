import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type AnswerOf, connectBenchDevice } from '../bench-device.ts';

/** The pause before a device connects again. */
const PAUSE_MS = 50;

/** Keeps devices connected: each connects again, until all of them are disposed of. The first connections must work. */
export async function keepDevices(options: {
  port: number;
  deviceIds: readonly string[];
  credentialOf(deviceId: string): string;
  answer: AnswerOf;
}): Promise<AsyncDisposable> {
  const { port, deviceIds, credentialOf, answer } = options;
  const sockets = new Map<string, Socket>();
  let over = false;
  const connect = async (deviceId: string): Promise<Socket> => {
    const socket = await connectBenchDevice({ port, deviceId, credential: credentialOf(deviceId), answer });
    if (over) socket.destroy();
    sockets.set(deviceId, socket);
    return socket;
  };
  const closed = (socket: Socket): Promise<void> =>
    socket.destroyed ? Promise.resolve() : new Promise((resolve) => socket.once('close', () => resolve()));
  const keep = async (deviceId: string, first: Socket): Promise<void> => {
    let socket: Socket | undefined = first;
    while (!over) {
      if (socket) await closed(socket);
      if (over) return;
      await pause(PAUSE_MS);
      socket = await connect(deviceId).catch(() => undefined);
    }
  };
  const kept: Promise<void>[] = [];
  for (const deviceId of deviceIds) kept.push(keep(deviceId, await connect(deviceId)));
  return {
    async [Symbol.asyncDispose]() {
      over = true;
      for (const socket of sockets.values()) socket.destroy();
      await Promise.all(kept);
    },
  };
}

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Recorder } from '../recording/recorder.ts';
import type { Direction } from '../recording/traffic.ts';
import type { Timers } from '../timers.ts';
import { UsageError } from '../usage-error.ts';
import { connectTo, passOn } from './pass-on.ts';
import { createSeats } from './seats.ts';
import { createTap } from './tap.ts';

/** The most connections at a time; a further one is closed at once. */
export const MOST_CONNECTIONS = 20_000;

/** The counts since the beginning. */
export interface RelayCounts {
  /** Connections whose login the service has accepted, and the different devices that made them. */
  connections: number;
  devices: number;
  sent: number;
  received: number;
  /** Connections of which something was passed on without being recorded, because it is no MQTT 3.1.1 of a device. */
  unread: number;
  /** Connections that were closed because there were too many. */
  refused: number;
  /** Connections that the service did not accept, at its address. */
  unreachable: number;
}

/** Stands between devices and a service. */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  readonly counts: Readonly<RelayCounts>;
}

/** Listens for devices, and passes their connections on to the service. Rejects with a UsageError. */
export async function startRelay({
  listen,
  serviceUrl,
  recorder,
  timers,
  mostConnections = MOST_CONNECTIONS,
  onUnreachable,
}: {
  listen: { host: string; port: number };
  serviceUrl: string;
  recorder: Recorder;
  timers: Timers;
  mostConnections?: number;
  /** Called when a connection to the service could not be opened. */
  onUnreachable: (error: Error) => void;
}): Promise<Relay> {
  const counts: RelayCounts = {
    connections: 0,
    devices: 0,
    sent: 0,
    received: 0,
    unread: 0,
    refused: 0,
    unreachable: 0,
  };
  const known = new Set<string>();
  const sockets = new Set<Socket>();
  let isOver = false;
  const seats = createSeats({
    connected(deviceId) {
      counts.connections += 1;
      known.add(deviceId);
      counts.devices = known.size;
      recorder.connected(deviceId);
    },
    disconnected(deviceId, how) {
      // At the end the relay itself closes the connections: no device has disconnected.
      if (!isOver) recorder.disconnected(deviceId, how);
    },
  });
  const onMessage = (deviceId: string, kind: Direction, topic: string, payload: string | Buffer): void => {
    counts[kind] += 1;
    recorder.message(deviceId, kind, topic, payload);
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (device) => {
    const service = connectTo(serviceUrl);
    const tap = createTap({ seats, onMessage });
    let isThere = false;
    service.once(serviceUrl.startsWith('mqtts:') ? 'secureConnect' : 'connect', () => {
      isThere = true;
    });
    service.once('error', (error) => {
      if (isThere) return;
      counts.unreachable += 1;
      onUnreachable(error);
    });
    for (const socket of [device, service]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
    device.once('close', () => {
      if (tap.isUnreadable) counts.unread += 1;
    });
    passOn(device, service, tap, timers);
  });
  server.maxConnections = mostConnections;
  server.on('drop', () => {
    counts.refused += 1;
  });
  server.listen(listen.port, listen.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new UsageError('--listen', (error as Error).message);
  }
  return {
    port: (server.address() as AddressInfo).port,
    counts,
    async [Symbol.asyncDispose]() {
      if (isOver) return;
      isOver = true;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

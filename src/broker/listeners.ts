import type { EventEmitter } from 'node:events';
import net from 'node:net';
import type { Aedes, Client } from 'aedes';
import type { Metrics } from '../metrics.ts';
import { limitPackets } from './packet-limit.ts';

interface Parts {
  broker: Aedes;
  metrics: Metrics;
  /** Connections at most; further ones are closed at once. Below the process's limit of open files. */
  maxConnections: number;
  isAuthenticated(client: Client): boolean;
  /** A packet of a device came, of whatever kind. */
  heard(deviceId: string): void;
}

const KEEPALIVE_MILLISECONDS = 60_000;

/** The TCP listener for devices, and the sockets that are open on it. */
export function createListener({ broker, metrics, maxConnections, isAuthenticated, heard }: Parts) {
  const sockets = new Set<net.Socket>();
  const server = net.createServer(
    // noDelay: without it a command waits for a delayed acknowledgement of TCP. keepAlive: an MQTT keep-alive of 0 never times out.
    { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEPALIVE_MILLISECONDS },
    (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      const client = broker.handle(socket);
      // Aedes drops a packet whose counter is below the last one delivered; ours go out in order and exactly once.
      (client as unknown as { duplicates: object }).duplicates = new Proxy({}, { get: () => 0 });
      (client as unknown as { _parser: EventEmitter })._parser.on('packet', () => {
        if (isAuthenticated(client)) heard(client.id);
      });
      limitPackets(
        client,
        () => isAuthenticated(client),
        () => metrics.mqttRefused.inc({ reason: 'packet_size' }),
      );
    },
  );
  server.maxConnections = maxConnections;
  server.on('drop', () => metrics.mqttRefused.inc({ reason: 'connections' }));

  return {
    /** Port 0 picks a free one; answers the port in use. */
    listen: (host: string, port: number): Promise<number> =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port, backlog: 1024 }, () => {
          server.off('error', reject);
          resolve((server.address() as net.AddressInfo).port);
        });
      }),
    /** No further connections. */
    stop(): void {
      if (server.listening) server.close();
    },
    /** Ends what is still open. */
    destroy(): void {
      for (const socket of sockets) socket.destroy();
    },
  };
}

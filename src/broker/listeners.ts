import type { EventEmitter } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import type { Aedes, Client } from 'aedes';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import type { Metrics } from '../metrics.ts';
import { limitPackets, PACKET_LIMITS } from './packet-limit.ts';
import type { TlsFiles } from './tls-files.ts';

interface Parts {
  broker: Aedes;
  metrics: Metrics;
  /** Connections at most, over all listeners; further ones are closed at once. Below the process's limit of open files. */
  maxConnections: number;
  isAuthenticated(client: Client): boolean;
  /** A packet of a device came, of whatever kind. */
  heard(deviceId: string): void;
}

// Milliseconds.
const KEEPALIVE = 60_000;
const HANDSHAKE = 10_000;
// noDelay: without it a command waits for a delayed acknowledgement of TCP. keepAlive: an MQTT keep-alive of 0 never times out.
const SOCKETS = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEPALIVE };
// A WebSocket message may hold several packets, or a part of one [MQTT-6.0.0-4]; with its fixed header.
const LARGEST_MESSAGE = PACKET_LIMITS.afterLogin + 5;
const SUBPROTOCOL = 'mqtt'; // [MQTT-6.0.0-3]

/** The common name of a certificate that a CA of ours has signed; undefined without one. */
function certifiedName(socket: net.Socket): string | undefined {
  if (!(socket instanceof tls.TLSSocket) || !socket.authorized) return undefined;
  const name = socket.getPeerCertificate().subject?.CN as string | string[] | undefined;
  return typeof name === 'string' ? name : undefined;
}

/** The listeners for devices (TCP, TLS, WebSocket), and the sockets that are open on them. */
export function createListeners({ broker, metrics, maxConnections, isAuthenticated, heard }: Parts) {
  const sockets = new Set<Duplex>();
  const servers: net.Server[] = [];
  const names = new WeakMap<Client, string>();

  /** Counts a socket from its first moment, before any handshake. */
  function track(socket: Duplex): void {
    if (sockets.size >= maxConnections) {
      metrics.mqttRefused.inc({ reason: 'connections' });
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  }

  /** A connection that speaks MQTT from here on. */
  function handle(connection: Duplex, name: string | undefined): void {
    if (connection.destroyed) return;
    const client = broker.handle(connection);
    if (name !== undefined) names.set(client, name);
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
  }

  function tlsOptions({ cert, key, clientCa }: TlsFiles): tls.TlsOptions {
    // Who has no certificate of ours may still log in with its credential.
    const clients = clientCa ? { ca: clientCa, requestCert: true, rejectUnauthorized: false } : {};
    return { cert, key, minVersion: 'TLSv1.2', handshakeTimeout: HANDSHAKE, ...clients };
  }

  function listen(server: net.Server, host: string, port: number): Promise<number> {
    servers.push(server);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, backlog: 1024 }, () => {
        server.off('error', reject);
        resolve((server.address() as net.AddressInfo).port);
      });
    });
  }

  /** Port 0 picks a free one; each answers the port in use. */
  return {
    listenTcp(host: string, port: number): Promise<number> {
      const server = net.createServer(SOCKETS, (socket) => {
        track(socket);
        handle(socket, undefined);
      });
      return listen(server, host, port);
    },

    /** A file that is no PEM throws. */
    async listenTls(host: string, port: number, files: TlsFiles): Promise<number> {
      const server = tls.createServer({ ...SOCKETS, ...tlsOptions(files) }, (socket) =>
        handle(socket, certifiedName(socket)),
      );
      server.on('connection', track);
      server.on('tlsClientError', (_error, socket) => socket.destroy());
      return listen(server, host, port);
    },

    /** MQTT over WebSocket, over TLS when there are files. */
    async listenWebSocket(host: string, port: number, files: TlsFiles | undefined): Promise<number> {
      const options = { ...SOCKETS, headersTimeout: HANDSHAKE, requestTimeout: HANDSHAKE, maxHeaderSize: 8192 };
      const upgradeOnly: http.RequestListener = (_request, response) => {
        response.writeHead(426, { Connection: 'close', Upgrade: 'websocket' }).end();
      };
      const server = files
        ? https.createServer({ ...options, ...tlsOptions(files) }, upgradeOnly)
        : http.createServer(options, upgradeOnly);
      server.on('connection', track);
      const webSockets = new WebSocketServer({
        noServer: true,
        clientTracking: false,
        perMessageDeflate: false,
        maxPayload: LARGEST_MESSAGE,
        handleProtocols: (offered) => offered.has(SUBPROTOCOL) && SUBPROTOCOL,
      });
      server.on('upgrade', (request, socket: net.Socket, head) => {
        socket.on('error', () => undefined);
        if (!offersMqtt(request)) {
          // HTTP servers leave sockets half open, and nothing bounds one that was taken for an upgrade.
          socket.once('finish', () => socket.destroy());
          socket.end(`HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
          return;
        }
        webSockets.handleUpgrade(request, socket, head, (webSocket: WebSocket) => {
          // Not half open: when the other side ends, so does this one, and Aedes hears of it.
          const stream = createWebSocketStream(webSocket, { allowHalfOpen: false });
          stream.on('error', () => undefined); // what is wrong with a WebSocket ends it; Aedes sees it close
          handle(stream, certifiedName(socket));
        });
      });
      return listen(server, host, port);
    },

    /** What the certificate of a client says who it is; undefined without one. */
    certifiedName: (client: Client): string | undefined => names.get(client),

    /** No further connections. */
    stop(): void {
      for (const server of servers) if (server.listening) server.close();
    },
    /** Ends what is still open. */
    destroy(): void {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function offersMqtt(request: http.IncomingMessage): boolean {
  const offered = String(request.headers['sec-websocket-protocol'] ?? '').split(',');
  return offered.some((name) => name.trim() === SUBPROTOCOL);
}

import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import type { Metrics } from '../../metrics.ts';
import { listenOn } from '../../runtime/listening.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import { createTurns } from '../../runtime/turns.ts';
import { type Certificate, shownCertificate } from './certificates.ts';
import type { createConnections, Place } from './connections.ts';
import type { TlsFiles } from './tls-files.ts';
import { createWebSockets, offersMqtt } from './web-sockets.ts';

export type Transport = 'mqtt' | 'mqtts' | 'ws' | 'wss';

interface Parts {
  log: Log;
  logLimit: LogLimit;
  metrics: Metrics;
  connections: ReturnType<typeof createConnections>;
  /** LAPEL_MQTT_LOGIN_SECONDS */
  loginSeconds: number;
  /** Resolves when it is time for one more handshake; undefined: at once. */
  turn(): Promise<void> | undefined;
  /** A connection speaks MQTT from here on. */
  handle(connection: Duplex, from: { place: Place; transport: Transport; certificate: Certificate | undefined }): void;
}

// Milliseconds.
const KEEPALIVE = 60_000;
/** Handshakes that begin in one turn of the event loop: each takes about a millisecond of it. */
const HANDSHAKES_PER_TURN = 4;
// noDelay: without it a command waits for a delayed acknowledgement of TCP. keepAlive: an MQTT keep-alive of 0 never times out.
const SOCKETS = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEPALIVE };

function tlsOptions({ cert, key, clientCa, clientCrl }: TlsFiles): tls.TlsOptions {
  // Who has no certificate of ours may still log in with its credential.
  const clients = clientCa ? { ca: clientCa, requestCert: true, rejectUnauthorized: false } : {};
  const revoked = clientCrl ? { crl: clientCrl } : {};
  return { cert, key, minVersion: 'TLSv1.2', ...clients, ...revoked };
}

/** The listeners for devices: TCP, TLS, WebSocket. */
export function createListeners({ log, logLimit, metrics, connections, loginSeconds, turn, handle }: Parts) {
  const servers: net.Server[] = [];
  const secured: tls.Server[] = [];
  const inLoop = createTurns(HANDSHAKES_PER_TURN);

  async function listen(server: net.Server, host: string, port: number): Promise<number> {
    servers.push(server);
    const bound = await listenOn(server, host, port);
    // Such as no file that is free for a connection: the listener goes on, and says so.
    server.on('error', (err) => {
      metrics.mqttRefused.inc({ reason: 'accept' });
      const leftOut = logLimit('accept');
      if (leftOut !== undefined) log.error({ err, leftOut }, 'connections of devices cannot be accepted');
    });
    return bound;
  }

  /** What is known of the sockets of one listener; TLS shows another object for the same socket later. */
  function places() {
    const byPort = new Map<string, Place>();
    const key = (socket: net.Socket): string => `${socket.remoteAddress} ${socket.remotePort}`;
    return {
      admit(socket: net.Socket, begins: 'handshake' | 'login'): Place | undefined {
        const place = connections.admit(socket, begins);
        if (!place) return undefined;
        const name = key(socket);
        byPort.set(name, place);
        socket.once('close', () => {
          if (byPort.get(name) === place) byPort.delete(name);
        });
        return place;
      },
      of: (socket: net.Socket): Place | undefined => byPort.get(key(socket)),
    };
  }

  /** Accepts connections, and hands each on to the server of TLS when it is its turn: a fleet must not stop the event loop. */
  function inFront(server: tls.Server | https.Server, admit: ReturnType<typeof places>['admit']): net.Server {
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    secured.push(server);
    async function handOn(socket: net.Socket): Promise<void> {
      socket.on('error', () => undefined);
      const place = admit(socket, 'handshake');
      if (!place) return;
      await turn();
      await inLoop();
      if (socket.destroyed) return;
      place.shakesHands();
      server.emit('connection', socket);
    }
    return net.createServer({ ...SOCKETS, pauseOnConnect: true }, (socket) => void handOn(socket));
  }

  /** The certificate that a connection has shown. One that is not accepted is told of, and not held against its password. */
  function certificateOf(socket: net.Socket, { address }: Place): Certificate | undefined {
    const shown = shownCertificate(socket);
    if (shown || !(socket instanceof tls.TLSSocket)) return shown;
    const { subject } = socket.getPeerCertificate();
    const leftOut = subject && logLimit(`certificate ${address}`);
    if (leftOut !== undefined) {
      const { authorizationError: reason } = socket;
      log.info({ address, name: subject.CN, reason, leftOut }, 'client certificate not accepted');
    }
    return undefined;
  }

  /** Port 0 picks a free one; each answers the port in use. */
  return {
    listenTcp(host: string, port: number): Promise<number> {
      const server = net.createServer(SOCKETS, (socket) => {
        const place = connections.admit(socket, 'login');
        if (place) handle(socket, { place, transport: 'mqtt', certificate: undefined });
      });
      return listen(server, host, port);
    },

    /** A file that is no PEM throws. */
    async listenTls(host: string, port: number, files: TlsFiles): Promise<number> {
      const { admit, of } = places();
      const server = tls.createServer(tlsOptions(files), (socket) => {
        const place = of(socket);
        if (!place || socket.destroyed) return;
        place.secured();
        handle(socket, { place, transport: 'mqtts', certificate: certificateOf(socket, place) });
      });
      return listen(inFront(server, admit), host, port);
    },

    /** MQTT over WebSocket, over TLS when there are files. */
    async listenWebSocket(host: string, port: number, files: TlsFiles | undefined): Promise<number> {
      const milliseconds = loginSeconds * 1000;
      const timeouts = { headersTimeout: milliseconds, requestTimeout: milliseconds };
      const options = { ...SOCKETS, ...timeouts, maxHeaderSize: 8192 };
      const upgradeOnly: http.RequestListener = (_request, response) => {
        response.writeHead(426, { Connection: 'close', Upgrade: 'websocket' }).end();
      };
      const { admit, of } = places();
      const webSockets = createWebSockets();
      const server = files
        ? https.createServer({ ...options, ...tlsOptions(files) }, upgradeOnly)
        : http.createServer(options, upgradeOnly);
      const front = server instanceof https.Server ? inFront(server, admit) : server;
      if (server instanceof https.Server) server.on('secureConnection', (socket) => of(socket)?.secured());
      else server.on('connection', (socket: net.Socket) => admit(socket, 'login'));
      server.on('upgrade', (request, socket: net.Socket, head) => {
        socket.on('error', () => undefined);
        if (!offersMqtt(request)) {
          // HTTP servers leave sockets half open, and nothing bounds one that was taken for an upgrade.
          socket.once('finish', () => socket.destroy());
          socket.end(`HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
          return;
        }
        const place = of(socket);
        if (!place) return socket.destroy();
        webSockets.open(request, socket, head, (stream, whenLoggedIn) => {
          const loggedIn = (): void => {
            whenLoggedIn();
            place.loggedIn();
          };
          const transport = files ? 'wss' : 'ws';
          handle(stream, { place: { ...place, loggedIn }, transport, certificate: certificateOf(socket, place) });
        });
      });
      return listen(front, host, port);
    },

    /** From now on new connections are shown these, and judged by them. */
    reload(files: TlsFiles): void {
      for (const server of secured) server.setSecureContext(tlsOptions(files));
    },

    /** No further connections. */
    stop(): void {
      for (const server of servers) if (server.listening) server.close();
    },
  };
}

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
import type { AcceptedSocket, createConnections } from './connections.ts';
import type { TlsFiles } from './tls-files.ts';
import { createWebSockets, offersMqtt } from './web-sockets.ts';

export type Transport = 'mqtt' | 'mqtts' | 'ws' | 'wss';

interface Parts {
  log: Log;
  logLimit: LogLimit;
  metrics: Metrics;
  connections: ReturnType<typeof createConnections>;
  /** The setting LAPEL_MQTT_LOGIN_SECONDS. */
  loginSeconds: number;
  /** Resolves when the next TLS handshake may begin; undefined means at once. */
  turn(): Promise<void> | undefined;
  /** Called when the bytes of MQTT begin on a connection, after TLS and WebSocket are set up. */
  handle(
    connection: Duplex,
    from: { accepted: AcceptedSocket; transport: Transport; certificate: Certificate | undefined },
  ): void;
}

// Milliseconds without traffic after which the kernel asks with TCP keep-alive probes whether the device is still
// there.
const KEEPALIVE = 60_000;
/** The most TLS handshakes that begin in one turn of the event loop; each takes about a millisecond. */
const HANDSHAKES_PER_TURN = 4;
// Options of every socket. Without `noDelay` a command waits for a delayed TCP acknowledgement. Without `keepAlive` the
// connection of a device that vanished stays open for ever, when the device had an MQTT keep-alive of 0.
const SOCKETS = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEPALIVE };

function tlsOptions({ cert, key, clientCa, clientCrl }: TlsFiles): tls.TlsOptions {
  // A device without a certificate of this CA may still log in with its credential.
  const clients = clientCa ? { ca: clientCa, requestCert: true, rejectUnauthorized: false } : {};
  const revoked = clientCrl ? { crl: clientCrl } : {};
  return { cert, key, minVersion: 'TLSv1.2', ...clients, ...revoked };
}

/** Creates the listeners for devices: TCP, TLS, WebSocket. */
export function createListeners({ log, logLimit, metrics, connections, loginSeconds, turn, handle }: Parts) {
  const servers: net.Server[] = [];
  const secured: tls.Server[] = [];
  const inLoop = createTurns(HANDSHAKES_PER_TURN);

  async function listen(server: net.Server, host: string, port: number): Promise<number> {
    servers.push(server);
    const bound = await listenOn(server, host, port);
    // A listener can fail to accept a connection, for example for lack of file descriptors. It logs this and goes on.
    server.on('error', (err) => {
      metrics.mqttRefused.inc({ reason: 'accept' });
      const leftOut = logLimit('accept');
      if (leftOut !== undefined) log.error({ err, leftOut }, 'a connection of a device could not be accepted');
    });
    return bound;
  }

  /**
   * Remembers the accepted sockets of one TLS listener, because TLS later passes another object for the same
   * connection. The socket is found again by the address and port of the device.
   */
  function acceptedSockets() {
    const byPort = new Map<string, AcceptedSocket>();
    const key = (socket: net.Socket): string => `${socket.remoteAddress} ${socket.remotePort}`;
    return {
      admit(socket: net.Socket, begins: 'handshake' | 'login'): AcceptedSocket | undefined {
        const accepted = connections.admit(socket, begins);
        if (!accepted) return undefined;
        const name = key(socket);
        byPort.set(name, accepted);
        socket.once('close', () => {
          if (byPort.get(name) === accepted) byPort.delete(name);
        });
        return accepted;
      },
      of: (socket: net.Socket): AcceptedSocket | undefined => byPort.get(key(socket)),
    };
  }

  /**
   * Creates the server that accepts TCP connections for a TLS server, and passes them on a few at a time. Many
   * simultaneous handshakes would block the event loop.
   */
  function inFront(server: tls.Server | https.Server, admit: ReturnType<typeof acceptedSockets>['admit']): net.Server {
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    secured.push(server);
    async function handOn(socket: net.Socket): Promise<void> {
      socket.on('error', () => undefined);
      const accepted = admit(socket, 'handshake');
      if (!accepted) return;
      await turn();
      await inLoop();
      if (socket.destroyed) return;
      accepted.handshakeBegan();
      server.emit('connection', socket);
    }
    return net.createServer({ ...SOCKETS, pauseOnConnect: true }, (socket) => void handOn(socket));
  }

  /**
   * The client certificate of a connection. A certificate that is not accepted is logged, but the device may still log
   * in with its password.
   */
  function certificateOf(socket: net.Socket, { address }: AcceptedSocket): Certificate | undefined {
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

  /** Each `listen` function returns the port that it listens on, which is a free one when 0 is asked for. */
  return {
    listenTcp(host: string, port: number): Promise<number> {
      const server = net.createServer(SOCKETS, (socket) => {
        const accepted = connections.admit(socket, 'login');
        if (accepted) handle(socket, { accepted, transport: 'mqtt', certificate: undefined });
      });
      return listen(server, host, port);
    },

    /** Listens with TLS. Throws for a file that is not PEM. */
    async listenTls(host: string, port: number, files: TlsFiles): Promise<number> {
      const { admit, of } = acceptedSockets();
      const server = tls.createServer(tlsOptions(files), (socket) => {
        const accepted = of(socket);
        if (!accepted || socket.destroyed) return;
        accepted.handshakeEnded();
        handle(socket, { accepted, transport: 'mqtts', certificate: certificateOf(socket, accepted) });
      });
      return listen(inFront(server, admit), host, port);
    },

    /** Listens for MQTT over WebSocket; over TLS when `files` are given. */
    async listenWebSocket(host: string, port: number, files: TlsFiles | undefined): Promise<number> {
      const milliseconds = loginSeconds * 1000;
      const timeouts = { headersTimeout: milliseconds, requestTimeout: milliseconds };
      const options = { ...SOCKETS, ...timeouts, maxHeaderSize: 8192 };
      const upgradeOnly: http.RequestListener = (_request, response) => {
        response.writeHead(426, { Connection: 'close', Upgrade: 'websocket' }).end();
      };
      const { admit, of } = acceptedSockets();
      const webSockets = createWebSockets();
      const server = files
        ? https.createServer({ ...options, ...tlsOptions(files) }, upgradeOnly)
        : http.createServer(options, upgradeOnly);
      const front = server instanceof https.Server ? inFront(server, admit) : server;
      if (server instanceof https.Server) server.on('secureConnection', (socket) => of(socket)?.handshakeEnded());
      else server.on('connection', (socket: net.Socket) => admit(socket, 'login'));
      server.on('upgrade', (request, socket: net.Socket, head) => {
        socket.on('error', () => undefined);
        if (!offersMqtt(request)) {
          // Node leaves the socket of an upgrade request half open, and applies no timeout to it. So it is closed here
          // once the answer was sent.
          socket.once('finish', () => socket.destroy());
          socket.end(`HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
          return;
        }
        const accepted = of(socket);
        if (!accepted) return socket.destroy();
        webSockets.open(request, socket, head, (stream, whenLoggedIn) => {
          const loggedIn = (): void => {
            whenLoggedIn();
            accepted.loggedIn();
          };
          const transport = files ? 'wss' : 'ws';
          handle(stream, {
            accepted: { ...accepted, loggedIn },
            transport,
            certificate: certificateOf(socket, accepted),
          });
        });
      });
      return listen(front, host, port);
    },

    /** Sets other TLS files: connections that begin from now on use them. */
    reload(files: TlsFiles): void {
      for (const server of secured) server.setSecureContext(tlsOptions(files));
    },

    /** Stops accepting connections. */
    stop(): void {
      for (const server of servers) if (server.listening) server.close();
    },
  };
}

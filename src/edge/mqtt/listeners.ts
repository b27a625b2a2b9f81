import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import type { Metrics } from '../../metrics.ts';
import { createCarriers } from '../../platform/entrance/carriers.ts';
import type { Secured } from '../../platform/entrance/certificates.ts';
import { type Proxies, readForwarded } from '../../platform/entrance/forwarded.ts';
import { createHostCheck, type HostNames } from '../../platform/entrance/host-names.ts';
import type { ProxyGate } from '../../platform/entrance/proxy-gate.ts';
import { type TlsFiles, tlsOptions } from '../../platform/entrance/tls-files.ts';
import { listenOn } from '../../runtime/listening.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import { createTurns } from '../../runtime/turns.ts';
import { type Certificate, shownCertificate } from './certificates.ts';
import type { AcceptedSocket, createConnections } from './connections.ts';
import { createWebSockets, offersMqtt } from './web-sockets.ts';

export type Transport = 'mqtt' | 'mqtts' | 'ws' | 'wss';

interface Parts {
  log: Log;
  logLimit: LogLimit;
  metrics: Metrics;
  connections: ReturnType<typeof createConnections>;
  /** The setting LAPEL_MQTT_LOGIN_SECONDS. */
  loginSeconds: number;
  /** LAPEL_DEVICE_CERTIFICATES: clients are asked for a certificate, also when no CA is set. */
  deviceCertificates: boolean;
  /** Resolves when the next TLS handshake may begin; undefined means at once. */
  turn(): Promise<void> | undefined;
  /** Reads the headers of the PROXY protocol; undefined for a listener whose connections have none. */
  gateOf(listener: 'mqtt' | 'mqtts' | 'ws'): ProxyGate | undefined;
  /** The proxies that name the client in the headers of a WebSocket; undefined when none is trusted. */
  proxies: Proxies | undefined;
  /** The host names that browsers may have in `Host`; undefined accepts every name. */
  names: HostNames | undefined;
  /** Returns the developer of a device, if it is known. */
  ownerOf(deviceId: string): string | undefined;
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

/** Creates the listeners for devices: TCP, TLS, WebSocket. */
export function createListeners({ log, logLimit, metrics, connections, loginSeconds, turn, handle, ...parts }: Parts) {
  const { gateOf, proxies, names, deviceCertificates, ownerOf } = parts;
  const checkHost = names && createHostCheck(names);
  const servers: net.Server[] = [];
  const inLoop = createTurns(HANDSHAKES_PER_TURN);

  /** A device without a certificate of the CA may still log in with its credential. */
  const optionsOf = (files: TlsFiles): tls.TlsOptions => ({
    ...tlsOptions(files),
    ...(deviceCertificates && { requestCert: true }),
    rejectUnauthorized: false,
  });

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

  /** Calls `enter` with each connection of a listener, after the header of the PROXY protocol if it has one. */
  function behindGate(listener: 'mqtt' | 'mqtts' | 'ws', enter: (socket: net.Socket) => void) {
    const gate = gateOf(listener);
    return gate ? (socket: net.Socket) => gate.take(listener, socket, () => enter(socket)) : enter;
  }

  /** Accepts the sockets of one listener, and finds each again when TLS or HTTP is set up on it. */
  function acceptedSockets() {
    const carriers = createCarriers<AcceptedSocket>();
    return {
      admit(socket: net.Socket, begins: 'handshake' | 'login'): AcceptedSocket | undefined {
        const accepted = connections.admit(socket, begins);
        if (accepted) carriers.keep(socket, accepted);
        return accepted;
      },
      of: carriers.of,
    };
  }

  /**
   * Creates the server that accepts TCP connections for a TLS server, and passes them on a few at a time. Many
   * simultaneous handshakes would block the event loop.
   */
  function inFront(
    listener: 'mqtts' | 'ws',
    server: tls.Server | https.Server,
    admit: ReturnType<typeof acceptedSockets>['admit'],
  ): net.Server {
    server.on('tlsClientError', (_error, socket) => socket.destroy());
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
    const isPaused = gateOf(listener) === undefined; // a gate reads from the connection
    return net.createServer(
      { ...SOCKETS, pauseOnConnect: isPaused },
      behindGate(listener, (socket) => void handOn(socket)),
    );
  }

  /**
   * The client certificate of a connection. A certificate that cannot be accepted is logged, but the device may still log
   * in with its password. One that no CA of the settings has signed may be one that the service has signed for the device:
   * the login tells.
   */
  function certificateOf(socket: net.Socket, { address }: AcceptedSocket): Certificate | undefined {
    const shown = shownCertificate(socket);
    if (!shown || shown.isTrusted || deviceCertificates) return shown;
    const leftOut = logLimit(`certificate ${address}`);
    if (leftOut !== undefined && socket instanceof tls.TLSSocket) {
      const { authorizationError: reason } = socket;
      log.info({ address, name: shown.name, reason, leftOut }, 'client certificate not accepted');
    }
    return undefined;
  }

  /**
   * The status with which an upgrade is refused; undefined for a good one. Only browsers send `Origin`, and only they can
   * be led here by a foreign name, so the names that devices use are not checked.
   */
  function refusalOf(request: http.IncomingMessage): string | undefined {
    if (!offersMqtt(request)) return '400 Bad Request';
    if (request.headers.origin === undefined) return undefined;
    try {
      checkHost?.(request.headers.host);
      return undefined;
    } catch {
      metrics.mqttRefused.inc({ reason: 'host' });
      return '403 Forbidden';
    }
  }

  /** The accepted socket of a WebSocket; a proxy in front of it may name the client. */
  function ofClient(
    { headers }: http.IncomingMessage,
    accepted: AcceptedSocket | undefined,
  ): AcceptedSocket | undefined {
    if (!accepted || !proxies?.trusted.has(accepted.remoteAddress)) return accepted;
    const { address } = readForwarded(headers, accepted.remoteAddress, proxies);
    return address === accepted.remoteAddress ? accepted : accepted.comesFrom(address);
  }

  /** Each `listen` function returns the port that it listens on, which is a free one when 0 is asked for. */
  return {
    listenTcp(host: string, port: number): Promise<number> {
      const enter = (socket: net.Socket): void => {
        const accepted = connections.admit(socket, 'login');
        if (accepted) handle(socket, { accepted, transport: 'mqtt', certificate: undefined });
      };
      const server = net.createServer(SOCKETS, behindGate('mqtt', enter));
      return listen(server, host, port);
    },

    /** Listens with TLS. */
    async listenTls(host: string, port: number, secured: Secured): Promise<number> {
      const { admit, of } = acceptedSockets();
      const server = tls.createServer(optionsOf(secured.files()), (socket) => {
        const accepted = of(socket);
        if (!accepted || socket.destroyed) return;
        accepted.handshakeEnded();
        handle(socket, { accepted, transport: 'mqtts', certificate: certificateOf(socket, accepted) });
      });
      secured.onChange((files) => server.setSecureContext(optionsOf(files)));
      return listen(inFront('mqtts', server, admit), host, port);
    },

    /** Listens for MQTT over WebSocket; over TLS when there are files for it. */
    async listenWebSocket(host: string, port: number, secured: Secured | undefined): Promise<number> {
      const milliseconds = loginSeconds * 1000;
      const timeouts = { headersTimeout: milliseconds, requestTimeout: milliseconds };
      const options = { ...SOCKETS, ...timeouts, maxHeaderSize: 8192 };
      const upgradeOnly: http.RequestListener = (_request, response) => {
        response.writeHead(426, { Connection: 'close', Upgrade: 'websocket' }).end();
      };
      const { admit, of } = acceptedSockets();
      const webSockets = createWebSockets({ onCut: () => metrics.mqttRefused.inc({ reason: 'incomplete_messages' }) });
      const server = secured
        ? https.createServer({ ...options, ...optionsOf(secured.files()) }, upgradeOnly)
        : http.createServer(options, upgradeOnly);
      if (server instanceof https.Server) {
        secured?.onChange((files) => server.setSecureContext(optionsOf(files)));
        server.on('secureConnection', (socket) => of(socket)?.handshakeEnded());
      }
      const enter = (socket: net.Socket): void => {
        if (admit(socket, 'login')) server.emit('connection', socket);
      };
      let front: net.Server = server;
      if (server instanceof https.Server) front = inFront('ws', server, admit);
      else if (gateOf('ws')) front = net.createServer(SOCKETS, behindGate('ws', enter));
      else server.on('connection', (socket: net.Socket) => admit(socket, 'login'));
      server.on('upgrade', (request, socket: net.Socket, head) => {
        socket.on('error', () => undefined);
        const refusal = refusalOf(request);
        if (refusal !== undefined) {
          // Node leaves the socket of an upgrade request half open, and applies no timeout to it. So it is closed here
          // once the answer was sent.
          socket.once('finish', () => socket.destroy());
          socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
          return;
        }
        const accepted = ofClient(request, of(socket));
        if (!accepted) return socket.destroy();
        webSockets.open(request, socket, head, (stream, whenLoggedIn) => {
          const loggedIn = (deviceId: string): void => {
            whenLoggedIn(ownerOf(deviceId) ?? '');
            accepted.loggedIn(deviceId);
          };
          const transport = secured ? 'wss' : 'ws';
          handle(stream, {
            accepted: { ...accepted, loggedIn },
            transport,
            certificate: certificateOf(socket, accepted),
          });
        });
      });
      return listen(front, host, port);
    },

    /** Stops accepting connections. */
    stop(): void {
      for (const server of servers) if (server.listening) server.close();
      for (const listener of ['mqtt', 'mqtts', 'ws'] as const) gateOf(listener)?.end(listener);
    },
  };
}

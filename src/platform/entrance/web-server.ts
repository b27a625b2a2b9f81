import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createTurns } from '../../runtime/turns.ts';
import { createCarriers } from './carriers.ts';
import type { Secured } from './certificates.ts';
import { clientAddress, isProxied, setClientAddress } from './client-address.ts';
import type { ProxyGate } from './proxy-gate.ts';
import { tlsOptions } from './tls-files.ts';

/** What stands before a listener; undefined where there is nothing. */
export interface Entrance {
  /** The name of the listener in metrics and log lines. */
  listener: string;
  /** The TLS files; undefined for plain HTTP. */
  secured?: Secured | undefined;
  /** Reads the headers of the PROXY protocol; undefined when connections have none. */
  gate?: ProxyGate | undefined;
  /** The value of `Strict-Transport-Security`; undefined when it is not sent. */
  hsts?: string;
}

interface Parts {
  entrance: Entrance | undefined;
  options: http.ServerOptions;
  take: http.RequestListener;
  /** Called for each accepted connection. Returns false when it was refused and closed. */
  admit(socket: Socket): boolean;
  /** Called when TLS is set up: from now on `secure` stands for the accepted socket. */
  secures(socket: Socket, secure: Socket): void;
}

/** Milliseconds for a TLS handshake. */
const HANDSHAKE_MS = 10_000;
/** The most TLS handshakes that begin in one turn of the event loop; each takes about a millisecond. */
const HANDSHAKES_PER_TURN = 4;

/** Creates an HTTP or HTTPS server. Without TLS and PROXY protocol it is a plain server, whose connections take no way round. */
export function createWebServer({ entrance, options, take, admit, secures }: Parts): http.Server {
  const { listener = '', secured, gate } = entrance ?? {};
  if (!secured && !gate) {
    const server = http.createServer(options, take);
    server.on('connection', admit);
    return server;
  }
  const server = secured
    ? https.createServer({ ...options, ...tlsOptions(secured.files()), handshakeTimeout: HANDSHAKE_MS }, take)
    : http.createServer(options, take);
  // The server's own listeners begin HTTP, or the TLS handshake. They get each connection when it may begin.
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  const handOn = (socket: Socket): void => {
    for (const one of begin) one.call(server, socket);
  };

  const inLoop = createTurns(HANDSHAKES_PER_TURN);
  const carriers = createCarriers<Socket>();
  async function beginTls(socket: Socket): Promise<void> {
    socket.on('error', () => undefined);
    carriers.keep(socket, socket);
    await inLoop();
    if (!socket.destroyed) handOn(socket);
  }
  if (secured && server instanceof https.Server) {
    secured.onChange((files) => server.setSecureContext(tlsOptions(files)));
    server.prependListener('secureConnection', (secure: TLSSocket) => {
      const socket = carriers.of(secure);
      if (!socket) return secure.destroy();
      if (isProxied(socket)) setClientAddress(secure, clientAddress(socket));
      secures(socket, secure);
    });
  }

  function enter(socket: Socket): void {
    if (!admit(socket)) return;
    if (secured) void beginTls(socket);
    else handOn(socket);
  }
  server.on('connection', (socket: Socket) => {
    if (gate) gate.take(listener, socket, () => enter(socket));
    else enter(socket);
  });
  return server;
}

import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { createTurns } from '../../runtime/turns.ts';
import { createCarriers } from './carriers.ts';
import type { Secured } from './certificates.ts';
import { clientAddress, isProxied, setClientAddress } from './client-address.ts';
import { setAuthority } from './client-certificates.ts';
import type { ProxyGate } from './proxy-gate.ts';
import { type TlsFiles, tlsOptions } from './tls-files.ts';

/** The part before a listener; undefined where there is none. */
export interface Entrance {
  /** The name of the listener in metrics and log lines. */
  listener: string;
  /** The TLS files; undefined for plain HTTP. */
  secured?: Secured | undefined;
  /**
   * Clients are asked for a certificate, and may do without one. `authority` has the CA that signs them, if there is one.
   * Undefined when clients are not asked.
   */
  clients?: { authority: Secured | undefined };
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

/** Node reads chunks only; of the bytes of any other coding it would make a body (RFC 9112 6.1). */
const withoutCodings =
  (take: http.RequestListener): http.RequestListener =>
  (request, response) => {
    const coding = request.headers['transfer-encoding'];
    if (coding === undefined || coding.trim().toLowerCase() === 'chunked') return take(request, response);
    response.writeHead(501, { Connection: 'close', 'Content-Length': 0 }).end();
    return undefined;
  };

/** Creates an HTTP or HTTPS server. Without TLS and PROXY protocol it is a plain server, whose connections take no way round. */
export function createWebServer({ entrance, options, take: takeReadable, admit, secures }: Parts): http.Server {
  const take = withoutCodings(takeReadable);
  const { listener = '', secured, gate, clients } = entrance ?? {};
  if (!secured && !gate) {
    const server = http.createServer(options, take);
    server.on('connection', admit);
    return server;
  }
  /** The options of TLS with the files of now. */
  const optionsOf = (files: TlsFiles): TlsOptions =>
    clients
      ? { ...tlsOptions({ ...files, ...clients.authority?.files() }), requestCert: true, rejectUnauthorized: false }
      : tlsOptions(files);
  const server = secured
    ? https.createServer({ ...options, ...optionsOf(secured.files()), handshakeTimeout: HANDSHAKE_MS }, take)
    : http.createServer(options, take);
  // The server's own listeners begin HTTP, or the TLS handshake. They get each connection when it may begin.
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  const handOn = (socket: Socket): void => {
    for (const one of begin) one.call(server, socket);
  };

  const inLoop = createTurns(HANDSHAKES_PER_TURN);
  const carriers = createCarriers<{ socket: Socket; authority: TlsFiles | undefined }>();
  async function beginTls(socket: Socket): Promise<void> {
    socket.on('error', () => undefined);
    await inLoop();
    if (socket.destroyed) return;
    carriers.keep(socket, { socket, authority: clients?.authority?.files() });
    handOn(socket);
  }
  if (secured && server instanceof https.Server) {
    // A new context has new keys of session tickets, so no session goes on that an earlier CA has verified.
    const renew = (): void => server.setSecureContext(optionsOf(secured.files()));
    secured.onChange(renew);
    clients?.authority?.onChange(renew);
    server.prependListener('secureConnection', (secure: TLSSocket) => {
      const kept = carriers.of(secure);
      if (!kept) return secure.destroy();
      const { socket, authority } = kept;
      if (authority) setAuthority(secure, authority);
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

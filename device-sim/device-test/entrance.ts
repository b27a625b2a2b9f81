import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type Server, TLSSocket } from 'node:tls';
import { createWebSocketStream, WebSocketServer } from 'ws';
import type { Pair } from './own-authority.ts';

/** The ways on which a device reaches the service. */
export const TRANSPORTS = ['mqtt', 'mqtts', 'ws', 'wss'] as const;
export type Transport = (typeof TRANSPORTS)[number];

export const usesTls = (transport: Transport): boolean => transport === 'mqtts' || transport === 'wss';
const usesWebSocket = (transport: Transport): boolean => transport === 'ws' || transport === 'wss';

/** The certificates of a service with TLS. */
export interface Secured {
  readonly server: Pair;
  /** The certificate of somebody who stands between the device and the service. */
  readonly stranger: Pair;
  /** The CA of client certificates; PEM. */
  readonly clientCa: string | Buffer;
}

/** A stream of MQTT bytes, from a device behind TLS and WebSocket. */
export interface Opened {
  readonly stream: Duplex;
  /** The common name of the client certificate that the device has shown; undefined without a good one. */
  readonly certificateName: string | undefined;
  /** Whether the device got the certificate of the stranger. */
  readonly isStranger: boolean;
}

/** The subprotocols that the service takes [MQTT-6.0.0-3]. */
const SUBPROTOCOLS = ['mqtt', 'mqttv3.1'];
const LARGEST_MESSAGE = 1024 * 1024;

/** Node trusts the CAs of the machine if it is given none, so `authorized` needs the certificate itself as well. */
function certificateNameOf(socket: Duplex): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized || !socket.getPeerX509Certificate()) return undefined;
  // A certificate with several common names has an array here.
  const name: unknown = socket.getPeerCertificate().subject?.CN;
  return typeof name === 'string' ? name : undefined;
}

/** Sets TLS and WebSocket up on the sockets of a device, as the service does. */
export function createEntrance({
  transport,
  secured,
  opened,
  refused,
}: {
  transport: Transport;
  /** The certificates; null without TLS. */
  secured: Secured | null;
  opened: (one: Opened) => void;
  /** Called with the reason when TLS or the WebSocket fails. */
  refused: (reason: string, isStranger: boolean) => void;
}): { enter(socket: Socket, isStranger: boolean): void } {
  const webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: LARGEST_MESSAGE,
    handleProtocols: (offered) => SUBPROTOCOLS.find((name) => offered.has(name)) ?? false,
  });

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, isStranger: boolean): void {
    const offered = String(request.headers['sec-websocket-protocol'] ?? '').split(',');
    if (!offered.some((name) => SUBPROTOCOLS.includes(name.trim()))) {
      refused('its WebSocket does not offer the subprotocol mqtt', isStranger);
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const stream = createWebSocketStream(webSocket, { allowHalfOpen: false });
      webSocket.prependListener('message', (_data: unknown, isBinary: boolean) => {
        if (!isBinary) stream.destroy(new Error('MQTT must be in binary messages [MQTT-6.0.0-1]'));
      });
      opened({ stream, certificateName: certificateNameOf(socket), isStranger });
    });
  }

  /** Behind TLS, or without it. */
  function next(isStranger: boolean): (socket: Duplex) => void {
    if (!usesWebSocket(transport))
      return (stream) => opened({ stream, certificateName: certificateNameOf(stream), isStranger });
    const http = createHttpServer((_request, response) => {
      refused('its HTTP request is no upgrade to a WebSocket', isStranger);
      response.writeHead(426, { Connection: 'close', Upgrade: 'websocket' }).end();
    });
    http.on('upgrade', (request, socket, head) => upgrade(request, socket, head, isStranger));
    http.on('clientError', (error, socket) => {
      refused(`its bytes are no HTTP: ${error.message}`, isStranger);
      socket.destroy();
    });
    return (socket) => void http.emit('connection', socket);
  }

  function tlsServer({ cert, key }: Pair, clientCa: Secured['clientCa'], isStranger: boolean): Server {
    const options = { cert, key, ca: clientCa, requestCert: true, rejectUnauthorized: false } as const;
    const goOn = next(isStranger);
    const server = createTlsServer({ ...options, minVersion: 'TLSv1.2' }, (socket) => {
      // The handshake is over here although the device may not like the certificate: it closes the socket then.
      socket.on('error', () => {});
      goOn(socket);
    });
    server.on('tlsClientError', (error, socket) => {
      refused(`its TLS handshake failed: ${error.message}`, isStranger);
      socket.destroy();
    });
    return server;
  }

  if (!secured) {
    const goOn = next(false);
    return { enter: (socket) => goOn(socket) };
  }
  const server = tlsServer(secured.server, secured.clientCa, false);
  const stranger = tlsServer(secured.stranger, secured.clientCa, true);
  return {
    enter(socket, isStranger) {
      socket.on('error', () => {});
      (isStranger ? stranger : server).emit('connection', socket);
    },
  };
}

import type http from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';

const SUBPROTOCOL = 'mqtt'; // the only WebSocket subprotocol [MQTT-6.0.0-3]
// Bytes. A WebSocket message may contain several packets, or a part of one [MQTT-6.0.0-2].
const LARGEST_MESSAGE = 1024 * 1024;
/** The most bytes that a connection may send before its login; an incomplete WebSocket message is kept in memory. */
const LARGEST_BEFORE_LOGIN = 64 * 1024;

export function offersMqtt(request: http.IncomingMessage): boolean {
  const offered = String(request.headers['sec-websocket-protocol'] ?? '').split(',');
  return offered.some((name) => name.trim() === SUBPROTOCOL);
}

/** Ends a connection that sends too much before its login; the returned function stops the watch. */
function watchBytes(socket: Socket): () => void {
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > LARGEST_BEFORE_LOGIN) socket.destroy();
  };
  socket.on('data', count);
  return () => socket.off('data', count);
}

/** The bytes of MQTT in the messages of a WebSocket. */
function toStream(webSocket: WebSocket): Duplex {
  // Not half open: when the other side ends, so does this side, and Aedes notices it.
  const stream = createWebSocketStream(webSocket, { allowHalfOpen: false });
  stream.on('error', () => undefined); // an error closes the WebSocket, and Aedes sees the close
  // Corked chunks are sent as one message: a packet is written in up to six pieces.
  stream._writev = (chunks, callback) => {
    stream._write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), 'buffer' as BufferEncoding, callback);
  };
  webSocket.prependListener('message', (_data: unknown, isBinary: boolean) => {
    if (!isBinary) stream.destroy(); // MQTT must be in binary messages [MQTT-6.0.0-1]
  });
  return stream;
}

/** Upgrades HTTP connections to WebSockets. */
export function createWebSockets() {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: LARGEST_MESSAGE,
    handleProtocols: (offered) => offered.has(SUBPROTOCOL) && SUBPROTOCOL,
  });
  return {
    open(
      request: http.IncomingMessage,
      socket: Socket,
      head: Buffer,
      opened: (stream: Duplex, whenLoggedIn: () => void) => void,
    ): void {
      server.handleUpgrade(request, socket, head, (webSocket: WebSocket) => {
        opened(toStream(webSocket), watchBytes(socket));
      });
    },
  };
}

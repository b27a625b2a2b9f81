import type http from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { LONGEST_CUT } from './packet-guard.ts';
import { createPartialMessages, type WatchedMessages } from './partial-messages.ts';

/** The WebSocket subprotocols: that of MQTT 3.1.1 [MQTT-6.0.0-3], and the one that clients of MQTT 3.1 offer. */
const SUBPROTOCOLS = ['mqtt', 'mqttv3.1'];
/**
 * The most bytes of one WebSocket message, which may contain several MQTT packets, or a part of one [MQTT-6.0.0-2]: the
 * longest packet that the guard acknowledges, and some packets before and behind it.
 */
const LARGEST_MESSAGE = LONGEST_CUT + 64 * 1024;
/**
 * The most bytes that a connection may send before its login, because an incomplete WebSocket message stays in memory.
 */
const LARGEST_BEFORE_LOGIN = 64 * 1024;

export function offersMqtt(request: http.IncomingMessage): boolean {
  const offered = String(request.headers['sec-websocket-protocol'] ?? '').split(',');
  return offered.some((name) => SUBPROTOCOLS.includes(name.trim()));
}

/** Closes a socket that sends too much before its login. The returned function ends this check. */
function watchBytes(socket: Socket): () => void {
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > LARGEST_BEFORE_LOGIN) socket.destroy();
  };
  socket.on('data', count);
  return () => socket.off('data', count);
}

/** Turns the messages of a WebSocket into one stream of MQTT bytes, and back. */
function toStream(webSocket: WebSocket, { whole }: WatchedMessages): Duplex {
  // `allowHalfOpen: false`: when the client ends its side, this side ends as well, and Aedes notices it.
  const stream = createWebSocketStream(webSocket, { allowHalfOpen: false });
  stream.on('error', () => undefined); // the error also closes the WebSocket, and Aedes notices the close
  // Aedes writes a packet in up to six pieces; pieces that are written together are sent as one WebSocket message.
  stream._writev = (chunks, callback) => {
    stream._write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), 'buffer' as BufferEncoding, callback);
  };
  webSocket.prependListener('message', (_data: unknown, isBinary: boolean) => {
    whole();
    if (!isBinary) stream.destroy(); // MQTT must be in binary messages [MQTT-6.0.0-1]
  });
  return stream;
}

/**
 * Creates the function that turns an HTTP connection into a WebSocket that carries MQTT. `onCut` is called when a connection
 * is closed because incomplete messages take too much memory.
 */
export function createWebSockets({ onCut }: { onCut(): void }) {
  // A message, and what may stand before it in the same piece of data.
  const watch = createPartialMessages({ largest: LARGEST_MESSAGE + 64 * 1024, onCut });
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: LARGEST_MESSAGE,
    handleProtocols: (offered) => SUBPROTOCOLS.find((name) => offered.has(name)) ?? false,
  });
  return {
    open(
      request: http.IncomingMessage,
      socket: Socket,
      head: Buffer,
      opened: (stream: Duplex, whenLoggedIn: (owner: string) => void) => void,
    ): void {
      server.handleUpgrade(request, socket, head, (webSocket: WebSocket) => {
        const ended = watchBytes(socket);
        const watched = watch(socket);
        opened(toStream(webSocket, watched), (owner) => {
          ended();
          watched.belongsTo(owner);
        });
      });
    },
  };
}

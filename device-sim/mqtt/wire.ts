import { connect as connectTcp, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { createWebSocketStream, WebSocket } from 'ws';

/** The bytes of one connection, whatever carries them. */
export type Wire = Pick<Duplex, 'write' | 'cork' | 'uncork' | 'end' | 'destroy' | 'pause' | 'resume'>;

export interface WireEnds {
  onOpen(): void;
  /** `bytes` belong to the connection again when this returns. */
  onBytes(bytes: Buffer): void;
  /** There is room again, after a `write` that gave false. */
  onDrain(): void;
  /** Once, at the end. */
  onClose(error: Error | undefined): void;
}

const PORTS: Readonly<Record<string, number>> = { 'mqtt:': 1883, 'mqtts:': 8883 };

/** One buffer that all plain sockets read into, one after the other: what they read is used up before the next one does. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);
/** The authorities of the system are read once, not for each device. */
let secureContext: SecureContext | undefined;

function attach(stream: Duplex, ends: WireEnds): Wire {
  let failure: Error | undefined;
  stream.on('drain', () => ends.onDrain());
  stream.on('error', (error) => {
    failure = error;
  });
  stream.once('close', () => ends.onClose(failure));
  return stream;
}

function openTcp(host: string, port: number, ends: WireEnds): Wire {
  const callback = (length: number): boolean => {
    ends.onBytes(readBuffer.subarray(0, length));
    return true;
  };
  // Without TCP_NODELAY an answer waits for the delayed ACK of the one before it.
  const socket = connectTcp({ host, port, noDelay: true, onread: { buffer: readBuffer, callback } });
  socket.once('connect', () => ends.onOpen());
  return attach(socket, ends);
}

function openTls(host: string, port: number, ends: WireEnds): Wire {
  secureContext ??= createSecureContext();
  const name = isIP(host) ? {} : { servername: host };
  const socket = connectTls({ host, port, secureContext, ...name });
  socket.setNoDelay(true);
  socket.once('secureConnect', () => ends.onOpen());
  socket.on('data', (bytes: Buffer) => ends.onBytes(bytes));
  return attach(socket, ends);
}

function openWebSocket(url: string, ends: WireEnds): Wire {
  const webSocket = new WebSocket(url, 'mqtt', { perMessageDeflate: false });
  const stream = createWebSocketStream(webSocket);
  webSocket.once('open', () => ends.onOpen());
  stream.on('data', (bytes: Buffer) => ends.onBytes(bytes));
  return attach(stream, ends);
}

/** How a URL is connected to, again and again. Throws a TypeError for one that is none. */
export function wireTo(url: string): (ends: WireEnds) => Wire {
  const { protocol, hostname, port } = new URL(url);
  // An IPv6 address is in brackets in a URL only.
  const host = hostname.replace(/^\[|\]$/g, '');
  const wanted = Number(port || PORTS[protocol]);
  switch (protocol) {
    case 'mqtt:':
      return (ends) => openTcp(host, wanted, ends);
    case 'mqtts:':
      return (ends) => openTls(host, wanted, ends);
    case 'ws:':
    case 'wss:':
      return (ends) => openWebSocket(url, ends);
    default:
      throw new TypeError(`${url} is no mqtt:, mqtts:, ws: or wss: URL`);
  }
}

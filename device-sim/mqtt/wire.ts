import { connect as connectTcp, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { createWebSocketStream, WebSocket } from 'ws';
import { sharedLookup as lookup } from './lookup.ts';

/** The bytes of one connection, whatever carries them. */
export type Wire = Pick<Duplex, 'write' | 'cork' | 'uncork' | 'end' | 'destroy' | 'pause' | 'resume'>;

/** Who is at the end of a wire; `wire` says which one, for those who have left one open and have another. */
export interface WireEnd {
  onOpen(wire: Wire): void;
  /** `bytes` belong to the connection again when this returns. */
  onBytes(wire: Wire, bytes: Buffer): void;
  /** There is room again, after a `write` that gave false. */
  onDrain(wire: Wire): void;
  /** Once, at the end. */
  onClose(wire: Wire, error: Error | undefined): void;
}

const PORTS: Readonly<Record<string, number>> = { 'mqtt:': 1883, 'mqtts:': 8883 };

/** One buffer that all plain sockets read into, one after the other: what they read is used up before the next one does. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);
/** The authorities of the system are read once, not for each device. */
let secureContext: SecureContext | undefined;

function attach(stream: Duplex, end: WireEnd): Wire {
  let failure: Error | undefined;
  stream.on('drain', () => end.onDrain(stream));
  stream.on('error', (error) => {
    failure = error;
  });
  stream.once('close', () => end.onClose(stream, failure));
  return stream;
}

function openTcp(host: string, port: number, end: WireEnd): Wire {
  const callback = (length: number): boolean => {
    end.onBytes(socket, readBuffer.subarray(0, length));
    return true;
  };
  // Without TCP_NODELAY an answer waits for the delayed ACK of the one before it.
  const socket = connectTcp({ host, port, lookup, noDelay: true, onread: { buffer: readBuffer, callback } });
  socket.once('connect', () => end.onOpen(socket));
  return attach(socket, end);
}

function openTls(host: string, port: number, end: WireEnd): Wire {
  secureContext ??= createSecureContext();
  const name = isIP(host) ? {} : { servername: host };
  const socket = connectTls({ host, port, lookup, secureContext, ...name });
  socket.setNoDelay(true);
  socket.once('secureConnect', () => end.onOpen(socket));
  socket.on('data', (bytes: Buffer) => end.onBytes(socket, bytes));
  return attach(socket, end);
}

function openWebSocket(url: string, end: WireEnd): Wire {
  const webSocket = new WebSocket(url, 'mqtt', { perMessageDeflate: false, lookup });
  const stream = createWebSocketStream(webSocket);
  webSocket.once('open', () => end.onOpen(stream));
  stream.on('data', (bytes: Buffer) => end.onBytes(stream, bytes));
  return attach(stream, end);
}

type Connect = (end: WireEnd) => Wire;
/** Of the URL that was asked for last: thousands have the same. */
let known: { readonly url: string; readonly connect: Connect } | undefined;

function readUrl(url: string): Connect {
  const { protocol, hostname, port } = new URL(url);
  // An IPv6 address is in brackets in a URL only.
  const host = hostname.replace(/^\[|\]$/g, '');
  const wanted = Number(port || PORTS[protocol]);
  switch (protocol) {
    case 'mqtt:':
      return (end) => openTcp(host, wanted, end);
    case 'mqtts:':
      return (end) => openTls(host, wanted, end);
    case 'ws:':
    case 'wss:':
      return (end) => openWebSocket(url, end);
    default:
      throw new TypeError(`${url} is no mqtt:, mqtts:, ws: or wss: URL`);
  }
}

/** How a URL is connected to, again and again. Throws a TypeError for one that is none. */
export function wireTo(url: string): Connect {
  if (known?.url !== url) known = { url, connect: readUrl(url) };
  return known.connect;
}

import { connect as connectTcp, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { createWebSocketStream, WebSocket } from 'ws';
import { remember } from '../bounded-map.ts';
import { sharedLookup as lookup } from './lookup.ts';

/** The byte stream of one connection, over any transport. */
export type Wire = Pick<Duplex, 'write' | 'cork' | 'uncork' | 'end' | 'destroy' | 'pause' | 'resume'>;

/**
 * The owner of a wire. `wire` says which one an event belongs to, because a device may have a new wire while an old one
 * is still open.
 */
export interface WireEnd {
  onOpen(wire: Wire): void;
  /** `bytes` may be reused after this returns. */
  onBytes(wire: Wire, bytes: Buffer): void;
  /** Called when the connection takes bytes again, after a `write` has returned false. */
  onDrain(wire: Wire): void;
  /** Called once, at the end. */
  onClose(wire: Wire, error: Error | undefined): void;
}

/** The client certificate of a device, with its key; PEM. */
export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

const PORTS: Readonly<Record<string, number>> = { 'mqtt:': 1883, 'mqtts:': 8883 };

/** All plain sockets read into this one buffer: the bytes of one are used up before the next one reads. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);
/** The certificate authorities of the system are read once, not for each device. */
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
  // Without TCP_NODELAY an answer waits for the delayed ACK of the answer before it.
  const socket = connectTcp({ host, port, lookup, noDelay: true, onread: { buffer: readBuffer, callback } });
  socket.once('connect', () => end.onOpen(socket));
  return attach(socket, end);
}

function openTls(host: string, port: number, end: WireEnd, certificate: Certificate | undefined): Wire {
  if (!certificate) secureContext ??= createSecureContext();
  const name = isIP(host) ? {} : { servername: host };
  const socket = connectTls({ host, port, lookup, ...(certificate ?? { secureContext }), ...name });
  socket.setNoDelay(true);
  socket.once('secureConnect', () => end.onOpen(socket));
  socket.on('data', (bytes: Buffer) => end.onBytes(socket, bytes));
  return attach(socket, end);
}

function openWebSocket(url: string, end: WireEnd, certificate: Certificate | undefined): Wire {
  const webSocket = new WebSocket(url, 'mqtt', { perMessageDeflate: false, lookup, ...certificate });
  const stream = createWebSocketStream(webSocket);
  webSocket.once('open', () => end.onOpen(stream));
  stream.on('data', (bytes: Buffer) => end.onBytes(stream, bytes));
  return attach(stream, end);
}

type Connect = (end: WireEnd, certificate?: Certificate) => Wire;
/** The connect functions by URL: thousands of devices have the same few. */
const known = new Map<string, Connect>();
const MOST_KNOWN = 100;

function readUrl(url: string): Connect {
  const { protocol, hostname, port } = new URL(url);
  // Only URLs put an IPv6 address in brackets, so they are removed.
  const host = hostname.replace(/^\[|\]$/g, '');
  const wanted = Number(port || PORTS[protocol]);
  switch (protocol) {
    case 'mqtt:':
      return (end) => openTcp(host, wanted, end);
    case 'mqtts:':
      return (end, certificate) => openTls(host, wanted, end, certificate);
    case 'ws:':
    case 'wss:':
      return (end, certificate) => openWebSocket(url, end, certificate);
    default:
      throw new TypeError(`${url} is not an mqtt:, mqtts:, ws: or wss: URL`);
  }
}

/** Returns a function that connects to a URL, for repeated use. Throws a TypeError if the URL is not valid. */
export function wireTo(url: string): Connect {
  const connect = known.get(url) ?? readUrl(url);
  remember(known, url, connect, MOST_KNOWN);
  return connect;
}

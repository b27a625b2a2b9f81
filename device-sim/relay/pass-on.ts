import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Timers } from '../timers.ts';
import type { Tap } from './tap.ts';

/** How long the last bytes may take to a peer whose other side is gone, in milliseconds. */
const FAREWELL_MILLISECONDS = 10_000;
/** How long a connection may last whose one direction has ended, in milliseconds. */
const HALF_CLOSED_MILLISECONDS = 60_000;
const PORTS: Readonly<Record<string, number>> = { 'mqtt:': 1883, 'mqtts:': 8883 };

/** Opens a connection to the service, over TLS for `mqtts:`. Each direction of it can end by itself. */
export function connectTo(url: string): Socket {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const at = { host, port: Number(port || PORTS[protocol]), allowHalfOpen: true };
  const socket =
    protocol === 'mqtts:' ? connectTls({ ...at, ...(!isIP(host) && { servername: host }) }) : connectTcp(at);
  return socket.setNoDelay(true);
}

/**
 * Passes the bytes of two sockets on to each other, unchanged and no faster than the receiver takes them. The end of one
 * direction ends only this direction; when a socket breaks, the other one is closed after its last bytes.
 */
export function passOn(device: Socket, service: Socket, tap: Tap, timers: Timers): void {
  let open = 2;
  let hasEnded = false;
  let cancel = (): void => {};

  /** Closes what is still open of the two sockets after a time. */
  function closeAfter(milliseconds: number): void {
    cancel();
    cancel = timers.after(milliseconds, () => {
      device.destroy();
      service.destroy();
    });
  }

  /** The side that ends first has ended the connection, although the other one may still say something. */
  function ended(byDevice: boolean): void {
    if (!hasEnded) tap.closed(byDevice);
    hasEnded = true;
  }

  function watch(socket: Socket, other: Socket): void {
    const byDevice = socket === device;
    socket.once('end', () => {
      ended(byDevice);
      if (open === 2) closeAfter(HALF_CLOSED_MILLISECONDS);
    });
    socket.on('error', () => ended(byDevice));
    socket.once('close', () => {
      ended(byDevice);
      open -= 1;
      if (open === 0) {
        cancel();
        return;
      }
      closeAfter(FAREWELL_MILLISECONDS);
      other.destroySoon();
    });
  }
  watch(device, service);
  watch(service, device);
  device.on('data', (bytes: Buffer) => tap.fromDevice(bytes)).pipe(service);
  service.on('data', (bytes: Buffer) => tap.fromService(bytes)).pipe(device);
}

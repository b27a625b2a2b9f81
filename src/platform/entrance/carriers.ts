import type { Socket } from 'node:net';

/**
 * Remembers something about each accepted socket of a TLS listener, because TLS later passes another object for the same
 * connection. It is found again by the address and port of the other end.
 */
export function createCarriers<Kept>() {
  const byPort = new Map<string, Kept>();
  const key = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`;
  return {
    keep(socket: Socket, kept: Kept): void {
      const name = key(socket);
      byPort.set(name, kept);
      socket.once('close', () => {
        if (byPort.get(name) === kept) byPort.delete(name);
      });
    },
    of: (socket: Socket): Kept | undefined => byPort.get(key(socket)),
  };
}

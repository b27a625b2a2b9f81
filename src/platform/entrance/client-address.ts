import type { Socket } from 'node:net';

const clients = new WeakMap<Socket, string>();

/** Remembers the client that a proxy has named for a connection. */
export const setClientAddress = (socket: Socket, address: string): void => void clients.set(socket, address);

/** True when a proxy has named the client of a connection. */
export const isProxied = (socket: Socket): boolean => clients.has(socket);

/** The address of the client of a connection: the one that a proxy has named, or else that of the other end. */
export const clientAddress = (socket: Socket): string => clients.get(socket) ?? socket.remoteAddress ?? '';

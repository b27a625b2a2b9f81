import type { AddressInfo, Server } from 'node:net';
import { DomainError } from './errors.ts';

// Connections that wait to be accepted: a fleet that comes back comes at once.
const BACKLOG = 1024;

/** Listens, and answers the port in use; port 0 picks a free one. */
export async function listenOn(server: Server, host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ host, port, backlog: BACKLOG }, resolve);
  await promise;
  server.off('error', reject);
  return (server.address() as AddressInfo).port;
}

/** Listens, or says which setting asked for an address that cannot be had. */
export async function listening<Result>(setting: string, host: string, port: number, listen: () => Promise<Result>) {
  try {
    return await listen();
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    const problem = `cannot listen on ${host}:${port} (${code})`;
    throw new DomainError('SETTING_INVALID', { values: { setting, problem }, cause });
  }
}

export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);

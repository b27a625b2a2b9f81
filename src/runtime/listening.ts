import type { AddressInfo, Server } from 'node:net';
import { DomainError } from '../errors.ts';

// Connections that wait to be accepted. It is large because all devices may reconnect at the same moment.
const BACKLOG = 1024;

/** Begins to listen and returns the actual port; port 0 picks a free one. */
export async function listenOn(server: Server, host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ host, port, backlog: BACKLOG }, resolve);
  await promise;
  server.off('error', reject);
  return (server.address() as AddressInfo).port;
}

interface Address {
  host: string;
  port: number;
}

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/**
 * Listens at the address of a setting and returns the URL, with the actual port. Throws SETTING_INVALID when the
 * address cannot be used.
 */
export async function listenAt(
  { setting, scheme = 'http', host, port }: Address & { setting: string; scheme?: string },
  listen: (host: string, port: number) => Promise<number>,
): Promise<string> {
  try {
    return `${scheme}://${urlHost(host)}:${await listen(host, port)}`;
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    const problem = `cannot listen on ${host}:${port} (${code})`;
    throw new DomainError('SETTING_INVALID', { values: { setting, problem }, cause });
  }
}

/**
 * Adds `start` and `url` to a server: it listens at its address when it is started, and its URL is known from then on.
 */
export function servedAt<Server extends { listen(host: string, port: number): Promise<{ port: number }> }>(
  setting: string,
  { host, port }: Address,
  server: Server,
) {
  let url = '';
  return {
    ...server,
    url: (): string => url,
    async start(): Promise<void> {
      url = await listenAt({ setting, host, port }, async (...at) => (await server.listen(...at)).port);
    },
  };
}

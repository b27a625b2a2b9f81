import type { AddressInfo, Server } from 'node:net';
import { DomainError } from '@lapel/schemas/contracts/errors';

// The most connections that the kernel keeps until the process accepts them. There are many when all devices reconnect
// at the same moment.
const BACKLOG = 1024;

/** Begins to listen and returns the port, which is a free one when 0 is asked for. */
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

/** An address that means "all addresses of this machine". No URL can lead to it, so URLs name this machine instead. */
const EVERYWHERE = /^(0\.0\.0\.0|::|0)$/;

function urlHost(host: string): string {
  if (EVERYWHERE.test(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * Listens at the address that a setting gives and returns the URL of the listener. Throws SETTING_INVALID when the
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

/** Adds `start` and `url` to a server. `start` makes it listen at its address; `url` is known from then on. */
export function servedAt<Server extends { listen(host: string, port: number): Promise<{ port: number }> }>(
  setting: string,
  { scheme = 'http', host, port }: Address & { scheme?: string },
  server: Server,
) {
  let url = '';
  return {
    ...server,
    url: (): string => url,
    async start(): Promise<void> {
      url = await listenAt({ setting, scheme, host, port }, async (...at) => (await server.listen(...at)).port);
    },
  };
}

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

async function tryPort(port: number): Promise<number | null> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return null;
  }
  const taken = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  return taken;
}

/** The preferred port of 127.0.0.1 if it is free, else any free port. The caller keeps it over restarts of the service. */
export async function portNear(preferred: number): Promise<number> {
  const port = (await tryPort(preferred)) ?? (await tryPort(0));
  if (port === null) throw new Error('this machine has no free port on 127.0.0.1');
  return port;
}

import { once } from 'node:events';
import { createServer } from 'node:net';

/** The first of these ports, and their number: below the range from which a system picks ports by itself. */
const FIRST = 10_000;
const BLOCKS = 200;
const BLOCK = 100;
/** Each process has a block, so that no other one takes its ports while nobody listens on them. */
const begin = FIRST + (process.pid % BLOCKS) * BLOCK;
let given = 0;

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const listens = await once(server, 'listening').then(
    () => true,
    () => false, // `once` rejects on an error
  );
  if (!listens) return false;
  server.close();
  await once(server, 'close');
  return true;
}

/**
 * A port for a service that must come back at the same address. HAProxy and nginx take a port that another listener of the
 * same user has, so two calls never name the same one, before many others were given.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = begin + (given % BLOCK);
    given += 1;
    if (await isFree(port)) return port;
  }
}

/** So many ports, each as `freePort` gives it. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

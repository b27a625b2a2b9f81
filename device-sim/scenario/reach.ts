import { connect } from 'node:net';
import { pause, type Timers } from '../timers.ts';

/**
 * The service, or the receiver to be tested, does not answer at an address. The simulator then ends with exit code 3.
 */
export class Unreachable extends Error {
  constructor(name: string, address: string, cause: Error) {
    super(`${name} could not be reached at ${address}: ${cause.message}`, { cause });
  }
}

const PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'mqtt:': 1883,
  'mqtts:': 8883,
  'ws:': 80,
  'wss:': 443,
};
const ATTEMPT_MILLISECONDS = 5000;
const BETWEEN_MILLISECONDS = 250;

/** Tries to connect to an address; resolves to an Error if no server accepts the connection, else to null. */
function knock(address: string): Promise<Error | null> {
  const { hostname, port, protocol } = new URL(address);
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(port) || (PORTS[protocol] ?? 0), timeout: ATTEMPT_MILLISECONDS });
    const end = (outcome: Error | null): void => {
      socket.destroy();
      resolve(outcome);
    };
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end(new Error('no answer')));
    // For several addresses of one host Node combines the errors, without a message.
    socket.once('error', (error) => end(error.message ? error : new Error((error as NodeJS.ErrnoException).code)));
  });
}

/**
 * Resolves when all addresses accept connections, because a service that was started together with the simulator needs
 * a moment. Rejects with Unreachable if one still does not after `patience` milliseconds.
 */
export async function reach(
  addresses: readonly string[],
  {
    patience,
    timers,
    stopped,
    name = 'the service',
  }: { patience: number; timers: Timers; stopped: AbortSignal; name?: string },
): Promise<void> {
  const until = timers.now() + patience;
  for (const address of addresses) {
    for (;;) {
      const wrong = await knock(address);
      if (!wrong || stopped.aborted) break;
      if (timers.now() >= until) throw new Unreachable(name, address, wrong);
      await pause(timers, BETWEEN_MILLISECONDS, stopped);
    }
  }
}

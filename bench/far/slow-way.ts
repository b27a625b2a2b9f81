import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The traffic between the nodes and the database since the way was made. */
export interface Traffic {
  /** The number of times that a connection sent to the database after the database had answered it: its round trips. */
  flights: number;
}

export type Asked = { delayMs: number } | 'traffic';

export interface SlowWay extends AsyncDisposable {
  /** The URL of the database, through the way. */
  url: string;
  /** From now on, each chunk takes so many milliseconds in each direction. */
  setDelay(milliseconds: number): Promise<void>;
  traffic(): Promise<Traffic>;
}

/** Starts a way to a database whose delay can be changed. It is a process of its own, so that a busy bench does not slow it. */
export async function startSlowWay(url: string): Promise<SlowWay> {
  const to = new URL(url);
  const child = fork(join(import.meta.dirname, 'slow-way-process.ts'), [to.hostname, to.port || '5432']);
  const [port] = (await once(child, 'message')) as [number];
  to.hostname = '127.0.0.1';
  to.port = String(port);
  const ask = async (asked: Asked): Promise<Traffic> => {
    const answered = once(child, 'message');
    child.send(asked);
    return (await answered)[0] as Traffic;
  };
  return {
    url: to.href,
    async setDelay(delayMs) {
      await ask({ delayMs });
    },
    traffic: () => ask('traffic'),
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Test } from 'tap';

interface Crowd {
  sockets: Socket[];
  /** Resolves when so many of them have been closed by the other side. */
  closed(count: number): Promise<void>;
  /** How many have been closed. */
  gone(): number;
  /** What each was sent so far, of those that read; and how many answers have begun. */
  received: string[];
  answers: number[];
}

interface Wanted {
  /** Where they come from: on Linux any address of 127.0.0.0/8. */
  from?: string;
  /** What each writes once it is connected. */
  text?: (index: number) => string | Buffer;
  /** Whether they read what is sent to them; not by default. */
  reads?: boolean;
}

/** Many connections to one listener, that end with the test. Those that are refused count as closed. */
export async function openMany(t: Test, url: string, count: number, wanted: Wanted = {}): Promise<Crowd> {
  const { hostname, port } = new URL(url);
  const { from, text, reads = false } = wanted;
  let gone = 0;
  let waiting: { count: number; resolve: () => void }[] = [];
  const received = Array<string>(count).fill('');
  const answers = Array<number>(count).fill(0);
  const connected: Promise<void>[] = [];
  const sockets = Array.from({ length: count }, (_, index) => {
    const localAddress = from !== undefined && process.platform === 'linux' ? { localAddress: from } : {};
    const socket = connect({ host: hostname, port: Number(port), ...localAddress });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      gone += 1;
      for (const one of waiting) if (gone >= one.count) one.resolve();
      waiting = waiting.filter((one) => gone < one.count);
    });
    if (reads) {
      socket.setEncoding('latin1').on('data', (more: string) => {
        received[index] += more;
        if (more.includes('HTTP/1.1 ')) answers[index] = (answers[index] ?? 0) + 1;
      });
    }
    const ready = new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
    connected.push(ready);
    if (text) socket.write(text(index));
    return socket;
  });
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(connected);
  return {
    sockets,
    received,
    answers,
    gone: () => gone,
    closed: (wantedCount) =>
      gone >= wantedCount ? Promise.resolve() : new Promise((resolve) => waiting.push({ count: wantedCount, resolve })),
  };
}

/** Waits, turn by turn, for something that the other side of a socket sees to. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await turn();
}

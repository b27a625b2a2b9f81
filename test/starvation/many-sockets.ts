import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';

interface Crowd {
  sockets: Socket[];
  /** Resolves when the other side has closed so many of them. */
  closed(count: number): Promise<void>;
  /** The number of closed connections. */
  gone(): number;
  /** The text that each reading connection has received, and the number of answers that have begun. */
  received: string[];
  answers: number[];
}

interface Wanted {
  /** The source address: on Linux any address of 127.0.0.0/8. */
  from?: string;
  /** The text that each connection writes after it has connected. */
  text?: (index: number) => string | Buffer;
  /** Whether they read; by default not. */
  reads?: boolean;
}

/** Many connections to one listener, which end with the test. Refused ones count as closed. */
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

// The process of a slow way to a database. It passes on what it gets after a delay, in order and as fast as it comes, and
// counts the flights to the database. Its arguments are the host and the port of the database.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Asked } from './slow-way.ts';

const [host = '', port = ''] = process.argv.slice(2);
let delayMs = 0;
let flights = 0;

/** Passes chunks on, each after the delay that holds when it comes, and never before an earlier one. */
function delayed(into: Socket): (chunk: Buffer) => void {
  const waiting: { chunk: Buffer; at: number }[] = [];
  let isArmed = false;
  function send(): void {
    isArmed = false;
    const now = performance.now();
    while (waiting[0] && waiting[0].at <= now) into.write(waiting.shift()?.chunk ?? '');
    arm();
  }
  function arm(): void {
    const [first] = waiting;
    if (!first || isArmed) return;
    isArmed = true;
    const leftMs = first.at - performance.now();
    // A timer comes up to a millisecond late, so the rest of the time is waited turn by turn.
    if (leftMs > 1) setTimeout(send, leftMs - 1);
    else setImmediate(send);
  }
  return (chunk) => {
    if (delayMs === 0 && waiting.length === 0) into.write(chunk);
    else {
      waiting.push({ chunk, at: performance.now() + delayMs });
      arm();
    }
  };
}

const server = createServer({ noDelay: true }, (near) => {
  const far = connect({ host, port: Number(port), noDelay: true });
  let isAnswered = true;
  const ahead = delayed(far);
  const back = delayed(near);
  near.on('data', (chunk) => {
    if (isAnswered) flights += 1;
    isAnswered = false;
    ahead(chunk);
  });
  far.on('data', (chunk) => {
    isAnswered = true;
    back(chunk);
  });
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => undefined);
    one.on('close', () => other.destroy());
  }
});

process.on('message', (asked: Asked) => {
  if (asked !== 'traffic') delayMs = asked.delayMs;
  process.send?.({ flights });
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

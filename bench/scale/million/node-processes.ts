import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { sumOf } from './open-loop.ts';
import type { Answer, Fleet, Order, OwnNodes } from './orders.ts';

const PROGRAM = join(import.meta.dirname, 'nodes-process.ts');
/** Half of the devices of a million take some 3 GB. */
const HEAP_MEGABYTES = 6_000;

/** Starts processes that share the nodes of the fleet. They end when they are disposed of, and when this process ends. */
export function startNodeProcesses(fleet: Fleet, count: number) {
  const children = Array.from({ length: count }, (_, index) => {
    const own = Array.from({ length: fleet.nodes }, (__, node) => node).filter((node) => node % count === index);
    return fork(PROGRAM, [JSON.stringify({ ...fleet, own } satisfies OwnNodes)], {
      execArgv: [`--max-old-space-size=${HEAP_MEGABYTES}`],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
  });

  const ask = (child: ChildProcess, order: Order): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const ended = (code: number | null): void => reject(new Error(`a process of nodes ended with ${code}`));
      child.once('exit', ended);
      child.once('message', (answer: Answer) => {
        child.off('exit', ended);
        if (answer.error === undefined) resolve(answer);
        else reject(new Error(`a process of nodes could not ${order.kind}: ${answer.error}`));
      });
      child.send(order);
    });

  return {
    /** Gives all processes an order; returns the sum of their answers. */
    async order(order: Order): Promise<Answer> {
      const answers = await Promise.all(children.map((child) => ask(child, order)));
      const names = new Set(answers.flatMap(({ parts }) => Object.keys(parts)));
      return {
        cpuSeconds: answers.reduce((total, { cpuSeconds }) => total + cpuSeconds, 0),
        connected: answers.reduce((total, { connected }) => total + connected, 0),
        parts: Object.fromEntries(
          [...names].map((name) => [name, sumOf(answers.flatMap(({ parts }) => parts[name] ?? []))]),
        ),
      };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
      await Promise.all(
        running.map((child) => {
          const gone = new Promise((resolve) => child.once('exit', resolve));
          child.kill('SIGTERM');
          return gone;
        }),
      );
    },
  };
}

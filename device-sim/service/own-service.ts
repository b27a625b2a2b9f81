import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Timers } from '../timers.ts';
import { startNode } from './own-node.ts';
import type { ServiceControl } from './service-fault.ts';

/**
 * Starts the nodes of a service, one by each command, and makes them fail by signals. Their output goes to
 * `service-1.log`, `service-2.log` ... in the folder, if one is given.
 */
export function startOwnService(
  commands: readonly string[],
  { folder, timers, stopped }: { folder: string | undefined; timers: Timers; stopped: AbortSignal },
): ServiceControl {
  const crashes: string[] = [];
  const crashed = Promise.withResolvers<string>();
  const onEnd = (text: string): void => {
    crashes.push(text);
    crashed.resolve(text);
  };
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  const logFile = (place: number): string | undefined =>
    folder === undefined ? undefined : join(folder, `service-${place + 1}.log`);
  const nodes = commands.map((command, place) =>
    startNode(command, { logFile: logFile(place), timers, stopped, onEnd }),
  );
  return {
    crashes,
    crashed: crashed.promise,
    async play({ fault, node, lasts }) {
      const chosen = node === null ? nodes : nodes.slice(node - 1, node);
      await Promise.all(chosen.map((one) => one.play(fault, lasts)));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    },
  };
}

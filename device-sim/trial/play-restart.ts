import { setTimeout as pause } from 'node:timers/promises';
import { runCommand } from '../run-command.ts';
import type { Outgoing } from './outgoing.ts';
import type { CustomerAnswer } from './sender.ts';

/** The attempts that are open at a time, and the webhooks that are sent at most. */
const OPEN = 8;
const MOST = 2_000;
/** Milliseconds before the next webhook, after one without an answer. */
const PAUSE_MILLISECONDS = 20;

interface Parts {
  /** Makes a genuine webhook. */
  make(): Outgoing;
  send(webhook: Outgoing): Promise<CustomerAnswer>;
  /** Called for each webhook that was answered with 2xx. */
  taken(id: string): void;
  /** Called with the answer to each other webhook, when it was sent again after the restart. */
  again(id: string, answer: CustomerAnswer): void;
  /** Resolves when the receiver accepts connections. */
  isBack(): Promise<void>;
  stopped: AbortSignal;
  /** Milliseconds that the command may take. */
  withinMs: number;
}

const isTaken = ({ status }: CustomerAnswer): boolean => status !== null && status >= 200 && status < 300;

/**
 * Kills the receiver with a command while webhooks come, so that some were answered just before: it must have kept them. Those
 * without a 2xx are sent again afterwards, as the service does. Resolves to the reason why the command failed; undefined: it
 * did not.
 */
export async function playRestart(
  command: string,
  { make, send, taken, again, isBack, stopped, withinMs }: Parts,
): Promise<string | undefined> {
  const untaken: Outgoing[] = [];
  let hasEnded = false;
  let sent = 0;
  const began = Promise.withResolvers<void>();
  async function keepSending(): Promise<void> {
    while (!hasEnded && sent < MOST && !stopped.aborted) {
      sent += 1;
      const webhook = make();
      if (isTaken(await send(webhook))) taken(webhook.id);
      else {
        untaken.push(webhook);
        await pause(PAUSE_MILLISECONDS);
      }
      if (sent > OPEN) began.resolve(); // the receiver is at work
    }
    began.resolve();
  }
  const sending = Array.from({ length: OPEN }, keepSending);
  await began.promise;
  const fault = await runCommand(command, { stopped, withinMs });
  hasEnded = true;
  await Promise.all(sending);
  if (fault !== undefined || stopped.aborted) return fault;
  await isBack();
  for (const webhook of untaken) again(webhook.id, await send(webhook));
  return undefined;
}

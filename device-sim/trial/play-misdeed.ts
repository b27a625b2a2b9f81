import { pause, type Timers } from '../timers.ts';
import type { Kind } from './kinds.ts';
import { BURST } from './misdeeds.ts';
import type { Outgoing } from './outgoing.ts';
import type { CustomerAnswer, Sender } from './sender.ts';

/** The most attempts that the service has open at one receiver. */
const MOST_OPEN = 256;
/** Milliseconds that a burst lasts, without the time that the receiver made it wait. */
const BURST_MILLISECONDS = 1000;
/** Fewer webhooks in this time are no burst. */
const LEAST_BURST = 100;

export interface Stage {
  readonly sender: Sender;
  readonly timers: Timers;
  readonly stopped: AbortSignal;
  /** Notes an answer of the receiver for the report. */
  enter(kind: Kind, webhookId: string, answer: CustomerAnswer): void;
}

/** Sends webhooks one after the other. */
export async function playInTurn(
  kind: Kind,
  webhooks: readonly Outgoing[],
  { sender, stopped, enter }: Stage,
): Promise<void> {
  for (const webhook of webhooks) {
    if (stopped.aborted) return;
    enter(kind, webhook.id, await sender.send(webhook));
  }
}

/**
 * Sends webhooks for a second, at 500 a second at most, with as many open attempts as the service has at most. Resolves to
 * false if the simulator was too slow for a burst, which says nothing about the receiver.
 */
export async function playBurst(
  webhooks: readonly Outgoing[],
  { sender, timers, stopped, enter }: Stage,
): Promise<boolean> {
  const open = new Set<Promise<void>>();
  const start = timers.now();
  let waited = 0;
  let sentCount = 0;
  for (const [index, webhook] of webhooks.entries()) {
    const ahead = start + waited + index * BURST.betweenMilliseconds - timers.now();
    if (ahead > 0) await pause(timers, ahead, stopped);
    if (stopped.aborted || timers.now() - start - waited > BURST_MILLISECONDS) break;
    sentCount += 1;
    const full = timers.now();
    while (open.size >= MOST_OPEN) await Promise.race(open);
    waited += timers.now() - full;
    const sent: Promise<void> = sender.send(webhook).then((answer) => {
      open.delete(sent);
      enter('burst', webhook.id, answer);
    });
    open.add(sent);
  }
  await Promise.all(open);
  return sentCount >= Math.min(LEAST_BURST, webhooks.length);
}

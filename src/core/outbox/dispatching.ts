import type { Metrics } from '../../metrics.ts';
import { toUtc } from '../../runtime/clock.ts';
import type { Work } from '../../runtime/idle.ts';
import type { Watch } from '../../runtime/watch.ts';
import type { Command, Lane } from './connection-state.ts';
import type { Due } from './due.ts';
import type { createPreparation } from './preparation.ts';

/** Cancels of one connection that are remembered, so that a hint of another node does not send them once more. */
const SENT_CANCELS = 1000;

export interface DispatchingParts {
  metrics: Pick<Metrics, 'commandsPublished' | 'commandsInFlight'>;
  watch: Watch;
  work: Work;
  prepare: ReturnType<typeof createPreparation>;
  /** The device's PUBACK for a command came. */
  delivered(transactionId: number): void;
  /** The device's PUBACK for a cancel came. */
  cancelDelivered(transactionId: number): void;
  /** A place of the window is free again. */
  released(lane: Lane): void;
}

const toCommand = (due: Due): Command => ({
  transactionId: due.transactionId,
  operation: due.status === 'cancelled' ? 'cancel' : due.operation,
  parameters: due.status === 'cancelled' ? {} : due.parameters,
  // With the transactionId the identity of a command: the same in every attempt, and in the cancel of it.
  issuedAt: toUtc(due.createdAt),
  attempt: due.attempts,
});

/** Writes claimed commands to their connections in order, each after its own preparation. */
export function createDispatching(parts: DispatchingParts) {
  const { metrics, watch, work, prepare, delivered, cancelDelivered } = parts;

  /** Gives back the place of a command that the device has, or that is not sent. */
  function release(lane: Lane): void {
    lane.inFlight -= 1;
    parts.released(lane);
  }

  /** The device has received a command, or a cancel (a negative number): its place is free. */
  function received(lane: Lane, slot: number): void {
    if (!lane.written.delete(slot)) return;
    metrics.commandsInFlight.dec();
    release(lane);
  }

  /** Writes one command whose place is already counted. */
  function send(lane: Lane, command: Command): void {
    if (!lane.open) return;
    const isCancel = command.operation === 'cancel';
    metrics.commandsPublished.inc({ kind: isCancel ? 'cancel' : command.attempt > 1 ? 'repeat' : 'first' });
    metrics.commandsInFlight.inc();
    if (watch.transactions > 0) watch.transaction(command.transactionId);
    const slot = isCancel ? -command.transactionId : command.transactionId;
    lane.written.add(slot);
    lane.link.publish(command, () => {
      if (!lane.open) return;
      if (isCancel) cancelDelivered(command.transactionId);
      else delivered(command.transactionId);
      received(lane, slot);
    });
  }

  function remember(lane: Lane, transactionId: number): void {
    lane.sentCancels.add(transactionId);
    if (lane.sentCancels.size > SENT_CANCELS)
      for (const oldest of lane.sentCancels.keys().take(1)) lane.sentCancels.delete(oldest);
  }

  const preparationOf = (lane: Lane, due: Due): Promise<object | null> | undefined =>
    due.status === 'cancelled'
      ? undefined
      : prepare(due, { signal: lane.closing.signal, pausing: (pauses) => setPaused(lane, pauses) });

  async function sendInTurn(
    lane: Lane,
    due: Due,
    before: Promise<void> | undefined,
    preparation: Promise<object | null> | undefined,
  ): Promise<void> {
    await before;
    // A command that was cancelled while it waited is not sent any more.
    const isCommand = due.status !== 'cancelled';
    const isOver = (): boolean => isCommand && !lane.unsent.has(due.transactionId);
    const parameters = isOver() ? null : await (before ? preparationOf(lane, due) : preparation);
    const drops = parameters === null || isOver();
    if (isCommand) lane.unsent.delete(due.transactionId);
    if (drops) release(lane);
    else send(lane, toCommand(parameters ? { ...due, parameters } : due));
  }

  /** While a connection's commands wait for the clock, they do not count as work. */
  function setPaused(lane: Lane, paused: boolean): void {
    lane.paused = paused;
    for (let turn = 0; turn < lane.turns; turn += 1)
      if (paused) work.ended();
      else work.begun();
  }

  return {
    received,

    /** Sends at once, or after its own preparation, which begins when the commands before it have gone. */
    dispatch(lane: Lane, due: Due): void {
      if (due.status === 'cancelled') remember(lane, due.transactionId);
      const before = lane.preparing;
      const preparation = before ? undefined : preparationOf(lane, due);
      if (!before && !preparation) {
        send(lane, toCommand(due));
        return;
      }
      if (due.status !== 'cancelled') lane.unsent.add(due.transactionId);
      lane.turns += 1;
      if (!lane.paused) work.begun();
      const turn = sendInTurn(lane, due, before, preparation).then(() => {
        if (lane.preparing === turn) lane.preparing = undefined;
        lane.turns -= 1;
        work.ended();
      });
      lane.preparing = turn;
    },
  };
}

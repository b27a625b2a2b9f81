import type { Metrics } from '../../metrics.ts';
import { type Clock, toUtc } from '../../runtime/clock.ts';
import type { HeldRollouts } from '../../runtime/held-rollouts.ts';
import type { Work } from '../../runtime/idle.ts';
import type { Tracing } from '../../runtime/tracing.ts';
import type { Watch } from '../../runtime/watch.ts';
import type { Command, ConnectionState } from './connection-state.ts';
import type { Due } from './due.ts';
import { messageAttributes } from './message-attributes.ts';
import type { createPreparation } from './preparation.ts';

/** The most cancels of one connection that are remembered as sent. */
const SENT_CANCELS = 1000;

export interface DispatchingParts {
  clock: Pick<Clock, 'now'>;
  metrics: Pick<Metrics, 'commandsPublished' | 'commandsInFlight' | 'stepSeconds'>;
  watch: Watch;
  tracing: Tracing;
  work: Work;
  prepare: ReturnType<typeof createPreparation>;
  /** Called at the device's PUBACK for a command. `answerWithin`: the seconds in which the device must answer. */
  delivered(deviceId: string, transactionId: number, answerWithin: number | null): void;
  /** The rollouts whose undelivered commands must not be published. */
  held: Pick<HeldRollouts, 'isHeld' | 'waits'>;
  /** Called at the device's PUBACK for a cancel. */
  cancelDelivered(deviceId: string, transactionId: number): void;
  /** Called when the connection has room for another unacknowledged command. */
  released(connection: ConnectionState): void;
}

const toCommand = (due: Due): Command => ({
  transactionId: due.transactionId,
  operation: due.status === 'cancelled' ? 'cancel' : due.operation,
  parameters: due.status === 'cancelled' ? {} : due.parameters,
  // transactionId and issuedAt identify a command; both are the same in every attempt and in its cancel.
  issuedAt: toUtc(due.createdAt),
  attempt: due.attempts,
});

/**
 * Writes claimed commands to their connections, in the order of the claims. A command with parameters that are made at
 * delivery (a download URL) waits for them, and later commands wait for that command.
 */
export function createDispatching(parts: DispatchingParts) {
  const { clock, metrics, watch, tracing, work, prepare, delivered, cancelDelivered } = parts;

  const observe = (step: 'published' | 'received', micros: number): void =>
    metrics.stepSeconds.observe({ step }, micros / 1_000_000);

  /** Makes room for another command, after the device has received one, or one was dropped. */
  function release(connection: ConnectionState): void {
    connection.inFlight -= 1;
    parts.released(connection);
  }

  /**
   * Makes room for another command, if this command, or this cancel (a negative transactionId), was written and counts
   * as in flight.
   */
  function received(connection: ConnectionState, slot: number): void {
    if (!connection.written.delete(slot)) return;
    connection.spans?.get(slot)?.end();
    connection.spans?.delete(slot);
    metrics.commandsInFlight.dec();
    release(connection);
  }

  /** Begins the span of a publish, which ends at its PUBACK or at the answer of the device. */
  function trace(connection: ConnectionState, slot: number, due: Due, { operation, attempt }: Command): void {
    const { deviceId } = connection.link;
    const attributes = { ...messageAttributes({ ...due, deviceId }), 'lapel.attempt': attempt };
    const span = tracing.below(due.traceparent, `publish ${operation}`, { kind: 'producer', attributes });
    if (!span) return;
    connection.spans ??= new Map();
    connection.spans.set(slot, span);
  }

  /** Writes one command, which already counts as in flight. */
  function send(connection: ConnectionState, due: Due): void {
    if (!connection.open) return;
    const command = toCommand(due);
    const isCancel = command.operation === 'cancel';
    metrics.commandsPublished.inc({ kind: isCancel ? 'cancel' : command.attempt > 1 ? 'repeat' : 'first' });
    metrics.commandsInFlight.inc();
    if (watch.transactions > 0) watch.transaction(command.transactionId);
    const slot = isCancel ? -command.transactionId : command.transactionId;
    const writtenAt = clock.now();
    if (!isCancel && command.attempt === 1) observe('published', writtenAt - due.createdAt);
    connection.written.set(slot, writtenAt);
    if (due.traceparent !== null) trace(connection, slot, due, command);
    const acknowledged = (): void => {
      if (!connection.open) return;
      if (isCancel) cancelDelivered(connection.link.deviceId, command.transactionId);
      else {
        delivered(connection.link.deviceId, command.transactionId, due.answerWithin);
        observe('received', clock.now() - writtenAt);
      }
      received(connection, slot);
    };
    const written = (): void => {
      if (connection.open) received(connection, slot);
    };
    connection.link.publish(command, acknowledged, written, due);
  }

  function remember(connection: ConnectionState, transactionId: number): void {
    connection.sentCancels.add(transactionId);
    if (connection.sentCancels.size > SENT_CANCELS)
      for (const oldest of connection.sentCancels.keys().take(1)) connection.sentCancels.delete(oldest);
  }

  const preparationOf = (connection: ConnectionState, due: Due): Promise<object | null> | undefined =>
    due.status === 'cancelled'
      ? undefined
      : prepare(due, { signal: connection.closing.signal, pausing: (pauses) => setPaused(connection, pauses) });

  async function sendInTurn(
    connection: ConnectionState,
    due: Due,
    before: Promise<void> | undefined,
    preparation: Promise<object | null> | undefined,
  ): Promise<void> {
    await before;
    // A command that was cancelled while it waited must not be sent, nor an undelivered one of a rollout that was paused.
    const isCommand = due.status !== 'cancelled';
    const isCancelled = (): boolean => isCommand && !connection.unsent.has(due.transactionId);
    const isHeld = (): boolean => due.status === 'queued' && parts.held.isHeld(due.rolloutId);
    const parameters =
      isCancelled() || isHeld() ? undefined : await (before ? preparationOf(connection, due) : preparation);
    const waits = parameters !== null && !isCancelled() && isHeld();
    const drops = parameters === null || isCancelled() || waits;
    if (isCommand) connection.unsent.delete(due.transactionId);
    if (waits && due.rolloutId !== null) connection.heldBack.set(due.transactionId, due.rolloutId);
    if (drops) release(connection);
    else send(connection, parameters ? { ...due, parameters } : due);
  }

  /**
   * Notes whether the commands of a connection pause after a failure. While they pause, they do not count as work in
   * progress.
   */
  function setPaused(connection: ConnectionState, paused: boolean): void {
    connection.paused = paused;
    for (let turn = 0; turn < connection.turns; turn += 1)
      if (paused) work.ended();
      else work.begun();
  }

  return {
    received,

    /**
     * Sends a claimed command: at once, or, if it needs parameters that are made at delivery, when they are made. They
     * are made only after the earlier commands were sent.
     */
    dispatch(connection: ConnectionState, due: Due): void {
      if (due.status === 'cancelled') remember(connection, due.transactionId);
      const before = connection.preparing;
      const preparation = before ? undefined : preparationOf(connection, due);
      if (!before && !preparation) {
        send(connection, due);
        return;
      }
      if (due.status !== 'cancelled') connection.unsent.add(due.transactionId);
      connection.turns += 1;
      if (!connection.paused) work.begun();
      const written = parts.held.waits(due.rolloutId);
      const turn = sendInTurn(connection, due, before, preparation).then(() => {
        if (connection.preparing === turn) connection.preparing = undefined;
        connection.turns -= 1;
        written();
        work.ended();
      });
      connection.preparing = turn;
    },
  };
}

import type { Look } from '../promises/looks.ts';
import type { Overshot } from './rollout-entries.ts';
import type { KnownRollout, RolloutSnapshot } from './rollout-snapshot.ts';
import { isOpenIn, type Window } from './rollout-window.ts';

/**
 * Milliseconds. The service stores when it published a command, and when it paused the rollout. A command that was
 * published so long after the pause cannot be one that was just being published: the time covers the commit of the pause
 * and clocks of several nodes that differ.
 */
const AFTER_PAUSE = 1000;
/** The same for the end of a window, at which the service first has to close the rollout. */
const AFTER_WINDOW = 5000;

/** The spans in which a rollout was paused or cancelled, from its history. Milliseconds since 1970. */
function stopsOf(history: RolloutSnapshot['rollout']['history']): { from: number; to: number; why: string }[] {
  const spans: { from: number; to: number; why: string }[] = [];
  let from: number | undefined;
  let why = '';
  for (const { at, event, reason } of history.toReversed()) {
    const time = Date.parse(at);
    if ((event === 'paused' || event === 'cancelled') && from === undefined) {
      from = time;
      why = `${event}${reason === null ? '' : ` (${reason})`}`;
    } else if (event === 'resumed' && from !== undefined) {
      spans.push({ from, to: time, why });
      from = undefined;
    }
  }
  return from === undefined ? spans : [...spans, { from, to: Number.POSITIVE_INFINITY, why }];
}

/**
 * The commands that the service published for the first time while the rollout was paused, was cancelled, or had its
 * window closed. Both times are those of the service, so neither the network nor the simulator can cause one.
 */
export function overshootOf({ rollout, transactions }: RolloutSnapshot, look: Look = () => {}): Overshot[] {
  const spans = stopsOf(rollout.history);
  const window = rollout.rules.window as Window | undefined;
  const isOpen = window ? isOpenIn(window) : () => true;
  const isClosed = (at: number): boolean => [at - AFTER_WINDOW, at, at + AFTER_PAUSE].every((one) => !isOpen(one));
  return transactions.flatMap(({ transactionId, deviceId, publishedAt }) => {
    if (publishedAt === null) return [];
    const at = Date.parse(publishedAt);
    if (window) look('rollout-window');
    if (spans.length > 0) look('rollout-paused');
    const span = spans.find(({ from, to }) => at > from + AFTER_PAUSE && at < to);
    if (!span && !isClosed(at)) return [];
    const stop = span
      ? `${((at - span.from) / 1000).toFixed(1)} s after it was ${span.why}`
      : `at ${publishedAt}, outside of its window`;
    const text = `rollout ${rollout.rolloutId}: command ${transactionId} was published ${stop}`;
    return [{ deviceId, transactionId, text }];
  });
}

const STOPPED: readonly string[] = ['paused', 'cancelled'];
const WITHOUT: readonly string[] = ['waiting', 'cancelled'];

/** The devices of a stopped rollout that never got a command. */
export function sparedBy({ rollout, devices }: RolloutSnapshot, { transactions }: Pick<KnownRollout, 'transactions'>) {
  if (!STOPPED.includes(rollout.state)) return [];
  const reached = new Set(
    [...transactions.values()].filter(({ deliveredAt }) => deliveredAt !== null).map(({ deviceId }) => deviceId),
  );
  return devices
    .filter(({ deviceId, state }) => WITHOUT.includes(state) && !reached.has(deviceId))
    .map(({ deviceId }) => deviceId);
}

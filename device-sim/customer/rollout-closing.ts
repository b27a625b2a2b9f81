import type { LapelClient } from '@lapel/client/lapel-client';
import { pause, type Timers } from '../timers.ts';
import type { Ledger } from './ledger.ts';
import type { Requests } from './requests.ts';
import { rolloutDifferences } from './rollout-comparison.ts';
import type { RolloutReader } from './rollout-reader.ts';
import type { FollowedRollout as Followed, KnownRollout, RolloutSnapshot } from './rollout-snapshot.ts';
import { overshootOf, sparedBy } from './rollout-stops.ts';

/** A rollout at the end of a run, for reports. */
export interface RolloutSummary {
  readonly rolloutId: string;
  readonly label: string;
  readonly phase: string;
  readonly operation: string;
  readonly state: string;
  readonly reason: string | null;
  readonly stages: number;
  readonly plannedStages: number;
  readonly devices: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly spared: number;
  readonly overshoot: number;
  /** When the service has stopped it last, in seconds after its begin, and the measure of the health rule that did. */
  readonly stop?: { readonly after: number; readonly measure: string | null } | null;
}

/** The last stop of a rollout by the service itself. */
function stopOf({ startedAt, history }: RolloutSnapshot['rollout']): NonNullable<RolloutSummary['stop']> | null {
  const paused = history.find(({ event, by }) => event === 'paused' && by === 'service');
  if (!paused || startedAt === null) return null;
  const after = Math.round((Date.parse(paused.at) - Date.parse(startedAt)) / 1000);
  return { after, measure: paused.health?.rule.measure ?? null };
}

/** A difference counts only if so many looks find it, because results and webhooks may still be on their way. */
const LOOKS = 6;
const LOOK_MILLISECONDS = 250;

/** Makes the function that compares a rollout with the books at the end of a run, and counts the differences. */
export function createRolloutClosing({
  lapel,
  requests,
  look,
  ledger,
  timers,
  stopped,
  devicesStay,
}: {
  lapel: LapelClient;
  requests: Pick<Requests, 'insist'>;
  look: RolloutReader['look'];
  ledger: Ledger;
  timers: Timers;
  stopped: AbortSignal;
  devicesStay: boolean;
}): (followed: Followed) => Promise<RolloutSummary> {
  /** Whether each device has ended, so that the rollout completes at once. */
  const isCompleting = ({ rollout: { state, counts } }: RolloutSnapshot, { plan }: Followed): boolean =>
    state === 'running' && counts.waiting + counts.unfinished === 0 && plan.body.continuous !== true;

  async function arePending(): Promise<boolean> {
    const { deliveries } = await requests.insist(() =>
      lapel.listDeliveries({ query: { status: 'pending', limit: 1 } }),
    );
    return deliveries.length > 0;
  }

  const known = (
    { rolloutId, plan, devices, members, events, approved }: Followed,
    pending: boolean,
  ): KnownRollout => ({
    rolloutId,
    plan,
    devices,
    members,
    devicesStay,
    transactions: ledger.transactionsOf(rolloutId),
    events: [...events.values()],
    approved,
    pending,
  });

  /** Compares a rollout with the books; only differences that all looks find are counted. */
  return async function close(followed) {
    const { rolloutId, phase, plan } = followed;
    let seen = await look(rolloutId);
    let lasting = rolloutDifferences(seen, known(followed, false), ledger.look);
    for (
      let left = LOOKS - 1;
      left > 0 && (lasting.length > 0 || isCompleting(seen, followed)) && !stopped.aborted;
      left -= 1
    ) {
      await pause(timers, LOOK_MILLISECONDS, stopped);
      seen = await look(rolloutId);
      const found = new Set(rolloutDifferences(seen, known(followed, await arePending())).map(({ text }) => text));
      lasting = lasting.filter(({ text }) => found.has(text));
    }
    const at = timers.now();
    for (const { text, ...about } of lasting) ledger.breach({ ...about, phase }, text, at);
    const { rollout, devices } = seen;
    const spared = sparedBy(seen, known(followed, false));
    const overshoot = overshootOf(seen, ledger.look);
    const { state, reason, stage, stages, counts } = rollout;
    const deviceIds = devices.map(({ deviceId }) => deviceId);
    const about = { rolloutId, phase, state, stages: stage, plannedStages: stages.length };
    ledger.rolloutEnded({ ...about, devices: deviceIds, spared, overshoot }, at);
    return {
      ...about,
      label: plan.body.label ?? rollout.subject ?? '',
      operation: plan.body.operation,
      reason,
      devices: devices.length,
      counts: { ...counts },
      spared: spared.length,
      overshoot: overshoot.length,
      stop: stopOf(rollout),
    };
  };
}

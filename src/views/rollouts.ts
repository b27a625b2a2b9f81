import type { RolloutDetails, RolloutResults, RolloutRow } from '@lapel/schemas/contracts/types';
import { findCounts, findTimes, type TimeKind } from '../core/rollouts/count-repository.ts';
import { byState, type Count, resultsSoFar } from '../core/rollouts/counts.ts';
import { findInState } from '../core/rollouts/member-repository.ts';
import type { Rollout } from '../core/rollouts/rollout.ts';
import { findSelector, listEntries, listRollouts, type RolloutFilter } from '../core/rollouts/rollout-repository.ts';
import { endOfBucket } from '../core/rollouts/times.ts';
import type { Database } from '../platform/database/sql.ts';
import { type Clock, toUtc } from '../runtime/clock.ts';
import { type Page, pageOf } from '../runtime/page.ts';
import { rolloutDevices } from './rollout-devices.ts';
import { rolloutResults } from './rollout-results.ts';

const MOST_ERRORS = 50;
const MOST_EXAMPLES = 3;
const MOST_ENTRIES = 100;
const MICROS_PER_MINUTE = 60_000_000;
const FIRST = { stage: -1, place: -1 };

interface Parts {
  database: Pick<Database, 'aside'>;
  clock: Clock;
}

export type RolloutViews = ReturnType<typeof createRolloutViews>;

const time = (micros: number | null): string | null => (micros === null ? null : toUtc(micros));

/** The members of a rollout that lists and details have. */
const common = (rollout: Rollout, counts: readonly Count[]) => ({
  rolloutId: rollout.rolloutId,
  applicationId: rollout.applicationId,
  label: rollout.label,
  operation: rollout.operation,
  subject: rollout.subject,
  state: rollout.state as RolloutRow['state'],
  reason: rollout.reason,
  stage: rollout.stage + 1,
  devices: rollout.devices,
  counts: byState(counts),
  createdAt: toUtc(rollout.createdAt),
  startedAt: time(rollout.startedAt),
  endedAt: time(rollout.endedAt),
});

type Times = readonly { kind: TimeKind; bucket: number; devices: number }[];

/** The times that 50, 90 and 99 of 100 devices did not exceed, in seconds. */
function percentiles(times: Times, kind: TimeKind): { p50: number | null; p90: number | null; p99: number | null } {
  const own = times.filter((one) => one.kind === kind).toSorted((one, other) => one.bucket - other.bucket);
  const total = own.reduce((sum, { devices }) => sum + devices, 0);
  const at = (percent: number): number | null => {
    let sum = 0;
    for (const { bucket, devices } of own) {
      sum += devices;
      if (sum * 100 >= percent * total) return Math.round(endOfBucket(bucket) * 10) / 10;
    }
    return null;
  };
  return { p50: at(50), p90: at(90), p99: at(99) };
}

/** The stages with the numbers of their devices. */
function stagesOf(
  { plan, stage: begun, approved, endedAt }: Rollout,
  counts: readonly Count[],
): RolloutDetails['stages'] {
  const stateOf = (stage: number): 'waiting' | 'running' | 'over' =>
    stage > begun ? 'waiting' : stage < begun || endedAt !== null ? 'over' : 'running';
  return plan.stages.map(({ devices, continueWhen, approval }, stage) => ({
    planned: devices,
    state: stateOf(stage),
    counts: byState(counts, stage),
    continueWhen: continueWhen ?? null,
    approval: approval ?? false,
    approved: approved >= stage,
  }));
}

/** The rules of a rollout, as they were given. */
function rulesOf({ plan }: Rollout): RolloutDetails['rules'] {
  const { ratePerMinute, window, startAt, abort, retry, terms, continuous, preferConnected } = plan;
  const rules = { ratePerMinute, window, abort, retry, ...terms, continuous, preferConnected };
  const given = Object.entries(rules).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), ...(startAt !== undefined && { startAt: toUtc(startAt) }) };
}

/** Shows rollouts: lists, and one with its stages, errors, speed and history. */
export function createRolloutViews({ database: { aside }, clock }: Parts) {
  async function errorsOf(rolloutId: string, counts: readonly Count[]): Promise<RolloutDetails['errors']> {
    const sums = new Map<string, { state: 'failed' | 'refused' | 'cancelled'; code: string; devices: number }>();
    for (const { state, code, devices } of counts) {
      if (code === '' || (state !== 'failed' && state !== 'refused' && state !== 'cancelled')) continue;
      const sum = sums.get(`${state} ${code}`) ?? { state, code, devices: 0 };
      sums.set(`${state} ${code}`, { ...sum, devices: sum.devices + devices });
    }
    const most = [...sums.values()].toSorted((one, other) => other.devices - one.devices).slice(0, MOST_ERRORS);
    const errors: RolloutDetails['errors'] = [];
    for (const { state, code, devices } of most) {
      const found = await findInState(aside, rolloutId, { state, code, after: FIRST, limit: MOST_EXAMPLES });
      errors.push({ state, code, devices, examples: found.map(({ deviceId }) => deviceId) });
    }
    return errors;
  }

  /**
   * The speed of a rollout since it began, or since somebody let it go on, and the time at which it would end at this
   * speed. One that is paused keeps the speed that it had.
   */
  function speedOf(
    { startedAt, endedAt, state, plan }: Rollout,
    counts: readonly Count[],
    pausedAt: number | undefined,
  ) {
    const { waiting, unfinished } = byState(counts);
    const since = plan.since ?? { at: startedAt ?? 0, results: 0 };
    const results = resultsSoFar(counts) - since.results;
    const now = endedAt ?? (state === 'paused' ? pausedAt : undefined) ?? clock.now();
    if (startedAt === null || results <= 0 || now <= since.at) return { resultsPerMinute: null, estimatedEnd: null };
    const perMicro = results / (now - since.at);
    const end = state === 'running' ? toUtc(Math.round(now + (waiting + unfinished) / perMicro)) : null;
    return { resultsPerMinute: Math.round(perMicro * MICROS_PER_MINUTE * 10) / 10, estimatedEnd: end };
  }

  return {
    /** A page of rollouts, the newest first, with the rolloutId after which the next page begins. */
    async list(
      filter: RolloutFilter,
      { after, limit }: { after?: string | undefined; limit: number },
    ): Promise<Page<RolloutRow, string>> {
      const found = await listRollouts(aside, filter, { after, limit: limit + 1 });
      const page = pageOf(found, limit, ({ rolloutId }) => rolloutId);
      const rows: RolloutRow[] = [];
      for (const rollout of page.rows) {
        const counts = await findCounts(aside, rollout.rolloutId);
        rows.push({ ...common(rollout, counts), stages: rollout.plan.stages.length });
      }
      return { rows, next: page.next };
    },

    /** A page of the devices of a rollout. */
    devices: (rolloutId: string, query: Parameters<typeof rolloutDevices>[2]) =>
      rolloutDevices(aside, rolloutId, query),

    /** The results of a rollout over time. */
    results: (rollout: Rollout): Promise<RolloutResults> => rolloutResults(aside, rollout),

    async detail(rollout: Rollout): Promise<RolloutDetails> {
      const { rolloutId } = rollout;
      const [counts, times, entries] = [
        await findCounts(aside, rolloutId),
        await findTimes(aside, rolloutId),
        await listEntries(aside, rolloutId, MOST_ENTRIES),
      ];
      return {
        ...common(rollout, counts),
        stages: stagesOf(rollout, counts),
        errors: await errorsOf(rolloutId, counts),
        delivery: percentiles(times, 'delivered'),
        result: percentiles(times, 'result'),
        ...speedOf(rollout, counts, entries.find(({ event }) => event === 'paused')?.at),
        selector: await findSelector(aside, rolloutId),
        rules: rulesOf(rollout),
        history: entries.map(({ at, event, stage, actor, reason }) => ({
          at: toUtc(at),
          event,
          stage: stage === null ? null : stage + 1,
          by: actor,
          reason,
        })),
      };
    },
  };
}

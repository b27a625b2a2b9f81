import { isDeepStrictEqual } from 'node:util';
import type { RolloutDetails, RolloutResults, RolloutRow } from '@lapel/schemas/contracts/types';
import { abortStateOf } from '../core/rollouts/abort-state.ts';
import { findCounts, findTimes, type TimeKind } from '../core/rollouts/count-repository.ts';
import { byState, type Count, neededResults, resultsSoFar, withWorkOf } from '../core/rollouts/counts.ts';
import { readDetail } from '../core/rollouts/entry-detail.ts';
import { findInState } from '../core/rollouts/member-repository.ts';
import { permitsOf } from '../core/rollouts/permits.ts';
import type { Rollout, Who } from '../core/rollouts/rollout.ts';
import {
  findRollout,
  findSelector,
  listEntries,
  listRollouts,
  type RolloutFilter,
} from '../core/rollouts/rollout-repository.ts';
import { readEvidence } from '../core/rollouts/seen.ts';
import { endOfBucket } from '../core/rollouts/times.ts';
import { type Evidence, tagOf, verdictOf } from '../core/rollouts/verdict.ts';
import type { Database } from '../platform/database/sql.ts';
import { type Clock, toUtc } from '../runtime/clock.ts';
import { type Page, pageOf } from '../runtime/page.ts';
import { SECOND } from '../runtime/units.ts';
import { rolloutDevices } from './rollout-devices.ts';
import { endOf } from './rollout-end.ts';
import { healthRules, stageHealth } from './rollout-health.ts';
import { inWork, type SignsOfLife } from './rollout-in-work.ts';
import { rolloutResults } from './rollout-results.ts';

const MOST_ERRORS = 50;
const MOST_EXAMPLES = 3;
const MOST_ENTRIES = 100;
/** A rollout of which results come all the time is shown as it was read last. */
const MOST_TRIES = 3;
/** The most unfinished devices that the feed tells apart each second; of more, their readers see it at the next change. */
const MOST_LIVE = 1_000;
const MICROS_PER_MINUTE = 60 * SECOND;
const FIRST = { stage: -1, place: -1 };

interface Parts extends SignsOfLife {
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

/** The end of the soak of the present stage; null before it begins, and of the last stage, which has none. */
function soakEnd({ plan, stage, shareSince, endedAt }: Rollout): string | null {
  if (shareSince === null || endedAt !== null || stage >= plan.stages.length - 1) return null;
  return toUtc(shareSince + (plan.stages[stage]?.continueWhen?.soakFor ?? 0) * SECOND);
}

/** The stages with the numbers of their devices. */
function stagesOf(
  rollout: Rollout,
  evidence: Evidence,
  inWorkOf: Awaited<ReturnType<typeof inWork>>,
): RolloutDetails['stages'] {
  const { plan, stage: begun, approved, endedAt } = rollout;
  const { counts, figures } = evidence;
  const stateOf = (stage: number): 'waiting' | 'running' | 'over' =>
    stage > begun ? 'waiting' : stage < begun || endedAt !== null ? 'over' : 'running';
  return plan.stages.map((rules, stage) => {
    const own = byState(counts, stage);
    const { devices, continueWhen, approval } = rules;
    const verdict = verdictOf(rollout, stage, evidence);
    return {
      planned: devices,
      state: stateOf(stage),
      counts: own,
      continueWhen: continueWhen ? { ...continueWhen, minimumResults: neededResults(rules, withWorkOf(own)) } : null,
      soakEndsAt: stage === begun ? soakEnd(rollout) : null,
      approval: approval ?? false,
      approvalBy: rules.approvalBy ?? null,
      approved: approved >= stage,
      health: stageHealth(figures, stage),
      inWork: inWorkOf(stage),
      verdict,
      verdictTag: verdict && tagOf(stage, verdict),
    };
  });
}

/** The rules of a rollout, as they were given. */
function rulesOf({ plan }: Rollout): RolloutDetails['rules'] {
  const { ratePerMinute, maxUnfinished, window, startAt, abort, retry, confirm, health, terms } = plan;
  const { revert, continuous, preferConnected } = plan;
  const conditions = { ratePerMinute, maxUnfinished, window, abort, retry, confirm, health, revert };
  const rules = { ...conditions, ...terms, continuous, preferConnected };
  const given = Object.entries(rules).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), ...(startAt !== undefined && { startAt: toUtc(startAt) }) };
}

/** Shows rollouts: lists, and one with its stages, errors, speed and history. */
export function createRolloutViews({ database: { aside }, clock, presence, connected }: Parts) {
  const signs = { presence, connected };

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

  /** The speed of a rollout since it began, or since somebody let it go on. One that is paused keeps the speed that it had. */
  function speedOf(
    { startedAt, endedAt, state, plan }: Rollout,
    counts: readonly Count[],
    pausedAt: number | undefined,
  ): number | null {
    const since = plan.since ?? { at: startedAt ?? 0, results: 0 };
    const results = resultsSoFar(counts) - since.results;
    const now = endedAt ?? (state === 'paused' ? pausedAt : undefined) ?? clock.now();
    if (startedAt === null || results <= 0 || now <= since.at) return null;
    return Math.round((results / (now - since.at)) * MICROS_PER_MINUTE * 10) / 10;
  }

  /** Reads a rollout as it is in one moment: once more if a result has come between two statements. */
  async function read(rollout: Rollout, withResults: boolean) {
    const { rolloutId } = rollout;
    for (let tries = 1; ; tries += 1) {
      const current = (await findRollout(aside, rolloutId)) ?? rollout;
      const evidence = await readEvidence(aside, rolloutId);
      const found = {
        rollout: current,
        evidence,
        times: await findTimes(aside, rolloutId),
        entries: await listEntries(aside, rolloutId, MOST_ENTRIES),
        inWorkOf: await inWork(aside, signs, rolloutId, evidence.counts),
        results: withResults ? await rolloutResults(aside, current) : undefined,
      };
      const after = [await findRollout(aside, rolloutId), await findCounts(aside, rolloutId)];
      if (tries === MOST_TRIES || isDeepStrictEqual(after, [current, evidence.counts])) return found;
    }
  }

  return {
    /**
     * Rollouts as the feed sends them: rows of the list, with all that tells a reader that there is more to read. Those of
     * other applications are left out.
     */
    async live(rolloutIds: readonly string[], applicationId: string | undefined) {
      const found: { key: string; value: object }[] = [];
      for (const rolloutId of rolloutIds) {
        const rollout = await findRollout(aside, rolloutId);
        if (!rollout || rollout.state === 'preparing') continue;
        if (applicationId !== undefined && rollout.applicationId !== applicationId) continue;
        const evidence = await readEvidence(aside, rolloutId);
        const verdict = verdictOf(rollout, rollout.stage, evidence);
        const row: RolloutRow = { ...common(rollout, evidence.counts), stages: rollout.plan.stages.length };
        const isLarge = row.counts.unfinished > MOST_LIVE;
        const more = {
          entries: rollout.entries,
          soakEndsAt: soakEnd(rollout),
          ...(!isLarge && { inWork: (await inWork(aside, signs, rolloutId, evidence.counts))() }),
          lookedAt: time(evidence.figures?.at ?? null),
          verdictTag: verdict && tagOf(rollout.stage, verdict),
        };
        found.push({ key: rolloutId, value: { ...row, ...more } });
      }
      return found;
    },

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

    /** A rollout as it is in one moment, for somebody who reads it; `withResults`: with its results over time. */
    async detail(asked: Rollout, who: Who, { withResults = false } = {}): Promise<RolloutDetails> {
      const { rolloutId } = asked;
      const { rollout, evidence, times, entries, inWorkOf, results } = await read(asked, withResults);
      const { counts, figures } = evidence;
      const { end, endWaitsFor } = endOf(rollout, counts, entries, clock.now());
      return {
        ...common(rollout, counts),
        permits: permitsOf(rollout, byState(counts), who),
        inWork: inWorkOf(),
        stages: stagesOf(rollout, evidence, inWorkOf),
        errors: await errorsOf(rolloutId, counts),
        delivery: percentiles(times, 'delivered'),
        result: percentiles(times, 'result'),
        resultsPerMinute: speedOf(rollout, counts, entries.find(({ event }) => event === 'paused')?.at),
        estimatedEnd: time(end),
        endWaitsFor,
        abortRule: abortStateOf(rollout.plan, counts),
        healthRules: healthRules(figures, rollout.plan.health),
        ...(results && { results }),
        selector: await findSelector(aside, rolloutId),
        ...(rollout.plan.reverts !== undefined && { reverts: rollout.plan.reverts }),
        ...(rollout.plan.revertedBy !== undefined && { revertedBy: rollout.plan.revertedBy }),
        rules: rulesOf(rollout),
        history: entries.map(({ at, event, stage, actor, person, reason, detail }) => {
          const { health = null, verdict = null } = readDetail(detail);
          return {
            at: toUtc(at),
            event,
            stage: stage === null ? null : stage + 1,
            by: actor,
            person,
            reason,
            health: health as RolloutDetails['history'][number]['health'],
            verdict,
          };
        }),
      };
    },
  };
}

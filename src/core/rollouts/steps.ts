import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import { type Micros, SECOND } from '../../runtime/units.ts';
import { findCounts } from './count-repository.ts';
import { byState, type Count, hasFailed, hasShare, isDone } from './counts.ts';
import { createAsking, healthEvidence } from './health/evidence.ts';
import type { Issuing } from './issuing.ts';
import type { Joining } from './joining.ts';
import { findWaiting, type Member, nextRetryAt, removeMembers } from './member-repository.ts';
import type { Obstacles } from './obstacles.ts';
import { PREPARED_WITHIN_MICROS } from './overdue.ts';
import { createPace } from './pace.ts';
import type { Places } from './places.ts';
import { rateNow } from './rate.ts';
import { FOR_EVER, longestWait } from './retrying.ts';
import { type Rollout, revertsItself } from './rollout.ts';
import { findAsked, findRollout, forgetAsked, removeRollout, updateRollout } from './rollout-repository.ts';
import type { Transitions } from './transitions.ts';
import type { Ways } from './ways-back.ts';
import { isOpen, untilChange } from './window.ts';
import type { Withdrawal } from './withdrawal.ts';

/** The commands that are made for one developer in one round of all rollouts, so that developers take turns. */
const PER_ROUND = 64;
/** With `preferConnected`, the waiting members among which those that are connected come first. */
const LOOKED_AT = 1_000;
interface Parts {
  database: Database;
  clock: Clock;
  trust: Pick<ClockTrust, 'isSettled'>;
  transitions: Transitions;
  issuing: Issuing;
  withdrawal: Withdrawal;
  joining: Joining;
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  obstacles: Pick<Obstacles, 'of' | 'forget'>;
  ways: Pick<Ways, 'gather' | 'forget'>;
  /** Ends the held commands of devices that a newer rollout has commanded. */
  supersede(rollout: Rollout): Promise<void>;
  places: Pick<Places, 'serve' | 'choose' | 'forget'>;
  /** Brings the devices of a rollout back by itself. */
  revert(rollout: Rollout): Promise<void>;
}

/** Devices of a rollout that are removed in one unit of work. */
const PER_REMOVAL = 256;

/** The time of the next step; `now`: at once; undefined: when something happens to the rollout. */
type Next = Micros | 'now' | undefined;

const earlier = (one: Next, other: Next): Next => {
  if (one === 'now' || other === 'now') return 'now';
  return one === undefined ? other : other === undefined ? one : Math.min(one, other);
};

export type Steps = ReturnType<typeof createSteps>;

/** Takes rollouts one step further. Each step can be repeated, and be left at any point. */
export function createSteps(parts: Parts) {
  const {
    database,
    clock,
    trust,
    transitions,
    issuing,
    withdrawal,
    joining,
    connected,
    obstacles,
    ways,
    places,
    revert,
  } = parts;
  const pace = createPace(clock);
  const asking = createAsking();
  /** By developer: the commands that were made in this round. */
  const made = new Map<string, number>();

  /**
   * Changes a rollout that is still in the state in which it was read, and with the same history. Anybody who has written into
   * it since has woken the driver, which decides anew.
   */
  const change = (
    { rolloutId, state, entries }: Rollout,
    work: (unit: UnitOfWork, rollout: Rollout) => Promise<unknown>,
  ): Promise<void> =>
    database.transact(
      async (unit) => {
        const rollout = await findRollout(unit, rolloutId, unit.forUpdate);
        if (rollout?.state === state && rollout.entries === entries) await work(unit, rollout);
      },
      { pace: 'soon' },
    );

  async function start(rollout: Rollout): Promise<void> {
    await change(rollout, async (unit, current) => {
      const state = transitions.stateAfter(current, 'start');
      const startedAt = clock.now();
      const plan = { ...current.plan, since: { at: startedAt, results: 0 } };
      await transitions.write(unit, { ...current, state, startedAt, plan }, 'started', { actor: 'service' });
    });
  }

  /** Opens or closes the window of a running rollout; `busy`: another step of it follows. */
  async function serve(rollout: Rollout): Promise<'open' | 'closed' | 'busy'> {
    const { plan, publishes, drained } = rollout;
    const opens = !plan.window || isOpen(plan.window, clock.now());
    if (publishes) {
      if (opens) return 'open';
      await change(rollout, (unit, current) => transitions.close(unit, current));
      return 'busy';
    }
    if (!drained) {
      await withdrawal.drain(rollout);
      return 'busy';
    }
    if (!opens) return 'closed';
    await parts.supersede(rollout);
    await change(rollout, async (unit, current) => current.drained && transitions.open(unit, current));
    return 'busy';
  }

  /** The members to serve next: of the lowest stage, by place or, if wanted, connected ones first. */
  async function nextMembers({ rolloutId, plan, stage }: Rollout, limit: number): Promise<Member[]> {
    const found: Member[] = [];
    const most = plan.preferConnected ? LOOKED_AT : limit;
    const wanted = { now: clock.now(), longest: trust.isSettled() ? longestWait(plan) : FOR_EVER };
    for (let each = 0; each <= stage && found.length < most; each += 1)
      found.push(
        ...(await findWaiting(database.read, rolloutId, { ...wanted, stage: each, limit: most - found.length })),
      );
    if (!plan.preferConnected || found.length <= limit) return found.slice(0, limit);
    const isConnected = await connected(found.map(({ deviceId }) => deviceId));
    const rank = ({ deviceId }: Member): number => (isConnected.has(deviceId) ? 0 : 1);
    return found.toSorted((one, other) => rank(one) - rank(other)).slice(0, limit);
  }

  /** Removes a rollout whose creation broke off; before it its devices, in short units of work. */
  async function removeSome(rollout: Rollout): Promise<Next> {
    let removed = 0;
    await change(rollout, async (unit, { rolloutId }) => {
      removed = await removeMembers(unit, rolloutId, PER_REMOVAL);
      if (removed === 0) await removeRollout(unit, rolloutId);
    });
    return removed > 0 ? 'now' : undefined;
  }

  /** Forgets what is kept in memory about a rollout that has ended. */
  function forget(rolloutId: string): void {
    for (const part of [pace, asking, joining, obstacles, places, ways]) part.forget(rolloutId);
  }

  /** Pauses a rollout, if `isSo` for the counts of the commit: a result may have come since they were read. */
  async function pauseFor(
    rollout: Rollout,
    reason: string,
    isSo: (counts: readonly Count[]) => boolean = () => true,
  ): Promise<void> {
    await change(rollout, async (unit, current) => {
      if (!isSo(await findCounts(unit, current.rolloutId))) return;
      await transitions.pause(unit, current, { actor: 'service', reason });
    });
  }

  /** Makes the next commands. */
  async function issue(rollout: Rollout): Promise<Next> {
    const asked = await findAsked(database.read, rollout.rolloutId);
    if (asked === undefined) return undefined;
    const obstacle = await obstacles.of(rollout, asked);
    if (obstacle !== undefined) {
      await pauseFor(rollout, obstacle);
      return 'now';
    }
    const { free, at } = await places.serve(rollout);
    if (free === 0) return at;
    const { developerId } = rollout.plan;
    const room = PER_ROUND - (made.get(developerId) ?? 0);
    if (room <= 0) return 'now';
    const perMinute = await rateNow(database.read, rollout);
    const allowed = pace.allowed(rollout.rolloutId, perMinute, room);
    if (allowed.count === 0) return earlier(at, allowed.at);
    const next = await nextMembers(rollout, allowed.count);
    if (next.length === 0) return earlier(at, await nextRetryAt(database.read, rollout.rolloutId, clock.now()));
    const { chosen: members, without } = await places.choose(rollout, next, free);
    pace.took(rollout.rolloutId, perMinute, members.length);
    made.set(developerId, (made.get(developerId) ?? 0) + members.length);
    const reason = await issuing.issue(rollout, asked, members, without);
    if (reason !== undefined) await pauseFor(rollout, reason);
    return 'now';
  }

  /** Begins the next stage, or ends the rollout, when the rules allow it. */
  async function proceed(rollout: Rollout): Promise<Next> {
    const { plan, stage, shareSince, approved } = rollout;
    const now = clock.now();
    const last = plan.stages.length - 1;
    const counts = await findCounts(database.read, rollout.rolloutId);
    if (stage < 0) {
      await change(rollout, (unit, current) => transitions.beginStage(unit, current));
      return 'now';
    }
    if (!plan.continuous && isDone(byState(counts), stage, plan.stages.length)) {
      await change(rollout, async (unit, current) => {
        // Read again under the lock: a failed device may have been let try again.
        const sums = byState(await findCounts(unit, current.rolloutId));
        if (!isDone(sums, current.stage, current.plan.stages.length)) return;
        await transitions.end(unit, current, 'complete', { actor: 'service' });
        if (sums.failed === 0) await forgetAsked(unit, current.rolloutId);
      });
      forget(rollout.rolloutId);
      return undefined;
    }
    const rules = plan.stages[stage];
    if (stage >= last || !rules) return undefined;
    const failed = hasFailed(rules, counts, stage);
    const isLetPass = (plan.letPass ?? -1) >= stage && failed;
    if (!isLetPass && failed) {
      await pauseFor(rollout, 'STAGE_FAILED', (latest) => hasFailed(rules, latest, stage));
      return 'now';
    }
    if (!isLetPass && !hasShare(rules, counts, stage)) {
      // Failed devices that wait again have taken the share away, so its soak begins anew.
      if (shareSince !== null)
        await change(rollout, (unit, current) => updateRollout(unit, { ...current, shareSince: null }));
      return undefined;
    }
    // A clock that was ahead may have seen the share found, at a time that has not come.
    if (shareSince === null || (shareSince > now && trust.isSettled())) {
      await change(rollout, (unit, current) => updateRollout(unit, { ...current, shareSince: now }));
      return 'now';
    }
    const soaked = shareSince + (rules.continueWhen?.soakFor ?? 0) * SECOND;
    if (now < soaked) return soaked;
    const evidence = await healthEvidence(database.read, rollout, soaked, now, asking.since(rollout, now));
    if (evidence === 'never') {
      await pauseFor(rollout, 'HEALTH_UNKNOWN');
      return 'now';
    }
    if (evidence !== 'known') return evidence;
    if (rules.approval && approved < stage) return undefined;
    await change(rollout, async (unit, current) => {
      // Read again under the lock: a failure may have taken the share away.
      const latest = await findCounts(unit, current.rolloutId);
      const passes = isLetPass ? hasFailed(rules, latest, stage) : hasShare(rules, latest, stage);
      if (passes) await transitions.beginStage(unit, current);
    });
    return 'now';
  }

  async function run(rollout: Rollout): Promise<Next> {
    const ofWindow = rollout.plan.window ? clock.now() + untilChange(clock.now()) : undefined;
    const served = await serve(rollout);
    if (served !== 'open') return served === 'busy' ? 'now' : ofWindow;
    const gathered = rollout.stage < 0 ? await ways.gather(rollout) : undefined;
    if (gathered !== undefined) return earlier(gathered, ofWindow);
    const joined = await joining.look(rollout);
    const proceeded = await proceed(rollout);
    const issued = rollout.stage < 0 || proceeded === 'now' ? 'now' : await issue(rollout);
    return [joined, proceeded, issued].reduce(earlier, ofWindow);
  }

  return {
    /** Call this before each round of all rollouts. */
    beginRound: (): void => made.clear(),

    /** Resolves to the time at which the rollout has to be looked at again. */
    async advance(rollout: Rollout): Promise<Next> {
      const { state, plan, drained, createdAt } = rollout;
      const now = clock.now();
      switch (state) {
        case 'preparing':
          if (now < createdAt + PREPARED_WITHIN_MICROS) return createdAt + PREPARED_WITHIN_MICROS;
          return removeSome(rollout);
        case 'scheduled':
          if (plan.startAt !== undefined && now < plan.startAt) return plan.startAt;
          await start(rollout);
          return 'now';
        case 'running':
          return run(rollout);
        case 'completed':
        case 'cancelled':
          if (!drained && !(await withdrawal.drain(rollout))) return 'now';
          forget(rollout.rolloutId);
          return undefined;
        case 'paused':
          if (!drained && !(await withdrawal.drain(rollout))) return 'now';
          if (revertsItself(rollout)) await revert(rollout);
          return undefined;
      }
    },
  };
}

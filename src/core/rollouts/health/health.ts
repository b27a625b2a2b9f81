import { VERSION_OPERATIONS } from '@lapel/schemas/base/rollouts';
import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Database } from '../../../platform/database/sql.ts';
import type { Log } from '../../../runtime/log.ts';
import type { Look } from '../looking.ts';
import { type HealthRule, isAtWork, type Rollout } from '../rollout.ts';
import { findAsked, findRollout } from '../rollout-repository.ts';
import type { Transitions } from '../transitions.ts';
import { findUnchanged } from '../unchanged-repository.ts';
import { areSame, figuresOf, type HealthDetail, type HealthFigures, valuesOf, wordsOf } from './figures.ts';
import { type Finding, judge, levelOf } from './judgement.ts';
import type { Observed } from './observation.ts';
import { findHealth, forgetWatches, nextWatched, type StoredHealth, saveHealth } from './watch-repository.ts';
import type { createWatching } from './watching.ts';

/** How much longer the devices must have been observed, all together, until the groups are compared again. */
const LONGER = 1.25;
/** Devices of an ended rollout whose watch ends in one unit of work. */
const FORGOTTEN_AT_ONCE = 256;

interface Parts {
  database: Database;
  log: Log;
  transitions: Pick<Transitions, 'pause'>;
  watching: ReturnType<typeof createWatching>;
  wake(rolloutId: string): void;
}

type Looked = Pick<StoredHealth, 'looks' | 'observed'>;

/**
 * Judges all rules. The groups are compared only where enough is known of both, and when the devices have been observed for
 * longer: each comparison makes it less likely that chance alone passes the next one.
 */
function judgeAll(
  rules: readonly HealthRule[],
  judged: readonly Observed[],
  control: readonly Observed[],
  before: Looked,
): Looked & { findings: Finding[] } {
  const judgeEach = (level?: number): Finding[] =>
    rules.map((rule) => judge(rule, valuesOf(judged, rule), valuesOf(control, rule), level));
  const findings = judgeEach();
  const comparing = rules.filter(({ timesControl }) => timesControl !== undefined).length;
  const isReady = rules.some(({ timesControl, minimumDevices }, index) => {
    const { treated, control: others } = findings[index] as Finding;
    return timesControl !== undefined && Math.min(treated.devices, others.devices) >= minimumDevices;
  });
  const observed = judged.reduce((sum, { now, since }) => sum + (now - since), 0);
  // Less than before: somebody has accepted how the earlier devices are.
  const isLonger = observed >= LONGER * before.observed || observed < before.observed / LONGER;
  if (!isReady || !isLonger) return { ...before, findings };
  const looks = before.looks + 1;
  return { findings: judgeEach(levelOf(looks, comparing)), looks, observed };
}

/** Judges the health of devices that have the release of a rollout, against devices that wait for it. */
export function createHealth({ database, log, transitions, watching, wake }: Parts): { look: Look } {
  const { aside } = database;

  /** The share of devices, in percent, that report the version that they got; null where there is none. */
  async function versionsKept(rollout: Rollout): Promise<(devices: readonly Observed[]) => Promise<number | null>> {
    const asked = await findAsked(database.read, rollout.rolloutId);
    return async (devices) => {
      if (asked === undefined || devices.length === 0) return null;
      const ids = devices.map(({ deviceId }) => deviceId);
      const kept = await findUnchanged(aside, rollout.operation, asked, ids);
      return Math.round((1000 * kept.size) / ids.length) / 10;
    };
  }

  async function judgeOne(rollout: Rollout, ...[now, listensSince, lives]: Parameters<Look>): Promise<number> {
    const { rolloutId, plan } = rollout;
    const devices = await watching.observe(rollout, now, listensSince, lives);
    const rules: readonly HealthRule[] = plan.health ?? [];
    const [treated, control] = [0, 1].map((is) => devices.filter(({ isControl }) => isControl === is)) as [
      Observed[],
      Observed[],
    ];
    // Devices that somebody has accepted by a resume are judged no more.
    const judged = treated.filter(({ since }) => since >= (plan.healthSince ?? 0));
    const stored = await findHealth(aside, rolloutId);
    const before = stored ?? { looks: 0, observed: 0 };
    const last = stored && (JSON.parse(stored.figures) as HealthFigures);
    const { findings, looks, observed } = judgeAll(rules, judged, control, before);
    const kept = VERSION_OPERATIONS.includes(rollout.operation) ? await versionsKept(rollout) : undefined;
    const stages: HealthFigures['stages'] = [];
    for (const [stage, own] of [...Map.groupBy(treated, (device) => device.stage)].toSorted(([a], [b]) => a - b)) {
      const versionKept = (await kept?.(own)) ?? null;
      const { words } = last?.stages.find((one) => one.stage === stage) ?? {};
      stages.push({
        stage,
        treated: { ...figuresOf(own, rules), versionKept },
        ...wordsOf({ of: rules, rules: findings }, own, control, versionKept, words),
      });
    }
    const figures: HealthFigures = {
      at: now,
      listensSince,
      stages,
      control: figuresOf(control, rules),
      of: rules,
      rules: findings,
      judged: judged.length,
    };
    await database.transact(
      async (unit) => {
        const current = await findRollout(unit, rolloutId, unit.forUpdate);
        if (!current || !isAtWork(current.state)) return;
        // Somebody may have accepted it, or changed the rules, while it was looked at.
        const isSame = current.plan.healthSince === plan.healthSince && areSame(current.plan.health, plan.health);
        const canStop = isSame && current.state === 'running';
        const found = findings.findIndex(({ fires }) => fires);
        // A comparison that found something and could not stop the rollout is made again when it can.
        const counted = found >= 0 && !canStop ? before : { looks, observed };
        saveHealth(unit, rolloutId, { ...counted, figures: JSON.stringify(figures) });
        if (found >= 0 && canStop) {
          const { treated: ours, control: theirs, probability } = findings[found] as Finding;
          const detail: HealthDetail = {
            rule: rules[found] as HealthRule,
            treated: ours,
            control: theirs,
            probability,
          };
          await transitions.pause(unit, current, { actor: 'service', reason: 'HEALTH_RULE', detail, figures });
        } else if (rules.length > 0 && current.state === 'running' && current.shareSince !== null)
          unit.onCommit(() => wake(rolloutId)); // its stage may wait for what was seen
      },
      { pace: 'soon' },
    );
    if (rollout.state === 'running') await watching.enrol(rollout, devices, now);
    return devices.length;
  }

  async function forget(rolloutId: string, lives: () => void): Promise<void> {
    const some = (): Promise<number> =>
      database.transact((unit) => forgetWatches(unit, rolloutId, FORGOTTEN_AT_ONCE), { pace: 'soon' });
    while ((await some()) > 0) lives();
  }

  return {
    /** Looks at all rollouts with watched devices. One that cannot be looked at holds up no other. */
    async look(now, listensSince, lives) {
      let devices = 0;
      for (let id = await nextWatched(database.read, ''); id !== undefined; id = await nextWatched(database.read, id)) {
        try {
          const rollout = await findRollout(database.read, id);
          if (rollout && isAtWork(rollout.state)) devices += await judgeOne(rollout, now, listensSince, lives);
          else await forget(id, lives);
        } catch (err) {
          if (isDatabaseAway(err)) throw err;
          log.error({ err, rolloutId: id }, 'the devices of a rollout could not be looked at; trying again');
          devices += 1;
        }
        lives();
      }
      return devices;
    },
  };
}

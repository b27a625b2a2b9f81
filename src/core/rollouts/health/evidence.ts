import type { Sql } from '../../../platform/database/sql.ts';
import type { Micros } from '../../../runtime/units.ts';
import type { Rollout } from '../rollout.ts';
import { areSame, type HealthFigures } from './figures.ts';
import { findHealth, hasSuccesses, hasTreated } from './watch-repository.ts';

const SECOND = 1_000_000;
/** Microseconds after which a stage whose soak is over asks again whether enough is known. */
const ASKS_AGAIN: Micros = 10 * SECOND;
/** The least time for which a stage waits for evidence after its soak. */
const WAITS: Micros = 24 * 3_600 * SECOND;
/** The least time for which devices were observed then, since the service could not hear them. */
const OBSERVES: Micros = 3_600 * SECOND;

/** Microseconds between two questions about a stage after which nobody has asked in between: the service stood still. */
const GAP: Micros = 120 * SECOND;

/** Remembers since when it is asked again and again whether enough is known of a stage, without an interruption. */
export function createAsking() {
  const known = new Map<string, { stage: number; since: Micros; last: Micros }>();
  return {
    since({ rolloutId, stage }: Pick<Rollout, 'rolloutId' | 'stage'>, now: Micros): Micros {
      const before = known.get(rolloutId);
      const goesOn = before?.stage === stage && now - before.last <= GAP;
      const since = goesOn ? before.since : now;
      known.set(rolloutId, { stage, since, last: now });
      return since;
    },
    forget: (rolloutId: string): unknown => known.delete(rolloutId),
  };
}

/** Whether nobody has got the release: then there is nothing to know, and a stage of unchanged devices is passed over. */
const isUnused = async (sql: Sql, rolloutId: string): Promise<boolean> =>
  !(await hasTreated(sql, rolloutId)) && !(await hasSuccesses(sql, rolloutId));

/**
 * Whether the health rules of a rollout know enough of the devices with the release for the next stage: a rule that has
 * seen nothing proves nothing, also where its devices have gone. `known`, or when to ask again, or `never`, when it has been
 * waited for too long. `askedSince`: since when it is asked, in which time looks should have come.
 */
export async function healthEvidence(
  sql: Sql,
  { rolloutId, plan, stage }: Rollout,
  soakedAt: Micros,
  now: Micros,
  askedSince: Micros = now,
): Promise<'known' | 'never' | Micros> {
  const rules = plan.health ?? [];
  if (rules.length === 0 || (plan.healthLetPass ?? -1) >= stage) return 'known';
  if (await isUnused(sql, rolloutId)) return 'known';
  const stored = await findHealth(sql, rolloutId);
  const figures = stored && (JSON.parse(stored.figures) as HealthFigures);
  const isKnown =
    figures !== undefined &&
    areSame(figures.of, rules) &&
    figures.at >= soakedAt &&
    rules.every(({ minimumDevices, timesControl }, index) => {
      const finding = figures.rules[index];
      // Somebody has accepted how all of them are.
      if (figures.judged === 0) return plan.healthSince !== undefined;
      if (!finding) return false;
      const isCompared = timesControl === undefined || finding.control.devices >= minimumDevices;
      return isCompared && finding.treated.devices >= Math.min(minimumDevices, figures.judged);
    });
  if (isKnown) return 'known';
  const soakFor = (plan.stages[stage]?.continueWhen?.soakFor ?? 0) * SECOND;
  // A look must have found it, and long after an interruption: the devices come back first, and are observed.
  const waited = soakedAt + Math.max(soakFor, WAITS);
  const lookedAt = figures?.at ?? 0;
  if (lookedAt >= Math.max(waited, (figures?.listensSince ?? now) + OBSERVES)) return 'never';
  // Looks that fail, or have no device to look at, find nothing for ever.
  const isBlind = now >= waited && now - Math.max(lookedAt, askedSince) >= OBSERVES;
  return isBlind ? 'never' : now + ASKS_AGAIN;
}

import { createRandom, deriveSeed, draw } from '@lapel/device-sim/random';
import type { ScenarioFile } from '@lapel/device-sim/scenario/scenario-file';
import { PARTS } from './parts.ts';

/** A restore of the service from a backup, as docs/operations.md says. Milliseconds of the world. */
export interface Restore {
  /** The moment of the backup; it waits until all devices are activated. */
  readonly backupAt: number;
  /** From the backup to the end of the service. */
  readonly after: number;
  /** Whether the service is killed; otherwise it is stopped. */
  readonly isKilled: boolean;
  /** How long the restore takes. */
  readonly lasts: number;
  /** Whether the service is looked at first, with its webhooks held. */
  readonly isHeld: boolean;
  /** Whether the disk is slow when the service starts on the backup, so that devices connect before its first commits. */
  readonly isSlow: boolean;
}

/** The share of the worlds that have a restore. */
const SHARE = 1 / 8;

/**
 * The deeds that people have to do again after a restore, because they are lost: the documents say so, and the people of a world do not.
 * The clock decides how far numbers jump. While files are slow, a backup takes a second, and nobody sees the moment in it
 * at which the database is copied: a webhook that arrived in it is sent again, or not.
 */
const NOT_BESIDE: readonly string[] = [
  'clock',
  'slow-files',
  'new-signing-key',
  'new-store-key',
  'block-devices',
  'cancel-rollout',
];
/** Actions whose effect is lost in the same way. */
const NO_ACTIONS: readonly string[] = ['newCredential', 'moveDevice', 'replaceDevice'];

interface Done {
  readonly does: string;
  /** The event that follows, in a chain. */
  readonly next?: Done;
}
const isBeside = ({ does, next }: Done): boolean =>
  !NOT_BESIDE.includes(does) && (next === undefined || isBeside(next));

/** Gives some of the plans a restore, and takes out what cannot be judged beside it. */
export function withRestore<
  Spell extends { readonly kind: string },
  Deed extends Done,
  Aim extends Done,
  More extends object,
>(
  plan: More & {
    readonly seed: number;
    readonly scenario: ScenarioFile;
    readonly spells: readonly Spell[];
    readonly deeds: readonly Deed[];
    readonly aims: readonly Aim[];
  },
): typeof plan & { readonly restore?: Restore } {
  const random = createRandom(deriveSeed(plan.seed, PARTS.restores));
  if (random() >= SHARE) return plan;
  const { scenario, spells, deeds, aims } = plan;
  const length = scenario.phases.reduce((sum, { duration }) => sum + 1000 * Number.parseInt(String(duration), 10), 0);
  const between = (min: number, max: number): number => Math.round(draw(random, { min, max }));
  return {
    ...plan,
    scenario: {
      ...scenario,
      phases: scenario.phases.map(({ actions = [], ...phase }) => ({
        ...phase,
        actions: actions.filter(({ do: doing }) => !NO_ACTIONS.includes(doing)),
      })),
    },
    spells: spells.filter(({ kind }) => !NOT_BESIDE.includes(kind)),
    deeds: deeds.filter(isBeside),
    aims: aims.filter(isBeside),
    restore: {
      backupAt: between(3_000, length * 0.6),
      after: between(500, length * 0.35),
      isKilled: random() < 0.5,
      lasts: between(2_000, 12_000),
      isHeld: random() < 0.3,
      isSlow: random() < 0.4,
    },
  };
}

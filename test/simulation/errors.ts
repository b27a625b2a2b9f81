import { hasSpell, isTimeRight, type Plan } from './plan.ts';

const ERROR = 50;
/** The message of the slow look: a wake-up was lost. */
const OVERLOOKED = 'overlooked:';

/** While the disk is slow, a request can outlast the patience of a service that ends: it says what it could not store. */
const CLOSED = 'the database is closed';

/** A service that begins on a backup says so, because somebody could have restored it by mistake. */
const RESTORED = 'the database file is not the one that was last used in this folder';

/** Notes the errors that a service logs in a world that gave it no reason for one. */
export function createErrors(plan: Pick<Plan, 'spells' | 'aims'>) {
  const mayFail = hasSpell(plan, 'full-disk') || !isTimeRight(plan);
  const isSlow = hasSpell(plan, 'slow-disk');
  let first: string | undefined;
  let restores = 0;
  const untold = (): string[] =>
    restores > 0 && !mayFail ? ['a restore is told in the log: the service has begun on a backup without a word'] : [];
  return {
    /** Whether the world gives the service reasons to fail. */
    mayFail,
    broken: (): string[] => (first === undefined ? untold() : [first]),
    /** Called when the next start is one on a backup. */
    restored(): void {
      restores += 1;
    },
    mistaken(text: string): void {
      first ??= text;
    },
    logged(at: number, line: string): void {
      if (first !== undefined) return;
      const { level, msg, err } = JSON.parse(line) as { level: number; msg: string; err?: { message: string } };
      if (restores > 0 && msg.startsWith(RESTORED)) {
        restores -= 1;
        return;
      }
      if (isSlow && err?.message === CLOSED) return;
      if (level < ERROR || (mayFail && !msg.startsWith(OVERLOOKED))) return;
      first = `nothing fails by itself, after ${(at / 1000).toFixed(3)} s: ${line.trim()}`;
    },
  };
}

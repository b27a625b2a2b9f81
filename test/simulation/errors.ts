import { isTimeRight, type Plan } from './plan.ts';

const ERROR = 50;
/** The message of the slow look: a wake-up was lost. */
const OVERLOOKED = 'overlooked:';

/** Notes the errors that a service logs in a world that gave it no reason for one. */
export function createErrors(plan: Pick<Plan, 'spells' | 'aims'>) {
  const isDiskFull =
    plan.spells.some(({ kind }) => kind === 'full-disk') || plan.aims.some(({ does }) => does === 'full-disk');
  const mayFail = isDiskFull || !isTimeRight(plan);
  let first: string | undefined;
  return {
    broken: (): string[] => (first === undefined ? [] : [first]),
    mistaken(text: string): void {
      first ??= text;
    },
    logged(at: number, line: string): void {
      if (first !== undefined) return;
      const { level, msg } = JSON.parse(line) as { level: number; msg: string };
      if (level < ERROR || (mayFail && !msg.startsWith(OVERLOOKED))) return;
      first = `nothing fails by itself, after ${(at / 1000).toFixed(3)} s: ${line.trim()}`;
    },
  };
}

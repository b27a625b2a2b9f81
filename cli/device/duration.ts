import { readDuration } from '@lapel/schemas/base/duration';
import { UsageError } from '../line/usage-error.ts';

/** Reads seconds: a whole number, or a duration with a unit. The service checks the bounds. Throws a UsageError. */
export function readTime(option: string, text: string): number {
  if (!/^\d{1,8}[smhd]?$/.test(text))
    throw new UsageError(
      `--${option}`,
      `"${text}" is no duration; write a number with a unit, as in 90s, 30m, 2h or 7d`,
    );
  return /\d$/.test(text) ? Number(text) : readDuration(text) / 1_000_000;
}

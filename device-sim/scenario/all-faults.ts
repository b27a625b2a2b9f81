import { checkShape, type Fault, type Path } from './check-shape.ts';
import type { Scenario } from './scenario.ts';
import type { ScenarioFile } from './scenario-file.ts';
import { understand } from './understand.ts';
import type { Beside } from './value-files.ts';

/** The value without the members at these paths. Items of lists stay in their places. */
function without(value: unknown, paths: readonly Path[]): unknown {
  const copy = structuredClone(value);
  for (const path of paths) {
    const name = path.at(-1);
    const holder = path
      .slice(0, -1)
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], copy);
    if (typeof name === 'string' && typeof holder === 'object' && holder !== null)
      delete (holder as Record<string, unknown>)[name];
  }
  return copy;
}

const isPrefix = (short: Path, long: Path): boolean => short.every((key, place) => long[place] === key);

/**
 * Reads a document as a scenario, or returns all its faults at once: those of its form, and those of its meaning as far as
 * they do not follow from the former.
 */
export function scenarioOf(value: unknown, beside: Beside): Scenario | Fault[] {
  const misshapen = checkShape(value);
  if (misshapen.length === 0) return understand(value as ScenarioFile, beside);
  const rest = without(
    value,
    misshapen.map(({ path }) => path),
  );
  // A faulty item of a list, or a member that is missing, cannot be left out.
  if (checkShape(rest).length > 0) return misshapen;
  const understood = understand(rest as ScenarioFile, beside);
  if (!Array.isArray(understood)) return misshapen;
  /** The object of a faulty member, and the members beside it, may only seem to be wrong. */
  const isOwn = ({ path }: Fault): boolean =>
    misshapen.every(({ path: faulty }) => {
      const holder = faulty.slice(0, -1);
      return !isPrefix(path, faulty) && !(path.length === faulty.length && isPrefix(holder, path));
    });
  return [...misshapen, ...understood.filter((fault) => isOwn(fault))];
}

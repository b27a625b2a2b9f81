import { addFigures, type Counts, createCounts } from './counts.ts';
import type { Figures } from './figures.ts';

/** The part of a run that a figure is about: devices of one group, calls of one action. Empty: everything. */
export interface Scope {
  readonly group?: string;
  readonly action?: string;
}

/** The device that a count is about, and the operation, by the name of its action. */
export interface Counted {
  readonly deviceId: string;
  readonly operation?: string;
}

/** The name of a scope in records of runs, such as `group: well`; empty for everything. */
export const nameOfScope = ({ group, action }: Scope): string =>
  [group !== undefined && `group: ${group}`, action !== undefined && `action: ${action}`].filter(Boolean).join(', ');

interface Cell extends Scope {
  readonly counts: Counts;
}

/**
 * Keeps one set of counters for each phase, group and action, so that each sum of them can be made. `groupOf` says
 * the group of a device.
 */
export function createScopedCounts(groupOf: (deviceId: string) => string | undefined) {
  const phases = new Map<string, Map<string, Cell>>();

  function cellsOf(phase: string): Map<string, Cell> {
    const known = phases.get(phase);
    if (known) return known;
    const made = new Map<string, Cell>();
    phases.set(phase, made);
    return made;
  }

  const isIn = (cell: Scope, { group, action }: Scope): boolean =>
    (group === undefined || cell.group === group) && (action === undefined || cell.action === action);

  return {
    /** The counters of a phase for a device and an operation, or for neither. */
    of(phase: string, about?: Counted): Counts {
      const cells = cellsOf(phase);
      const group = about === undefined ? '' : (groupOf(about.deviceId) ?? '');
      const action = about?.operation ?? '';
      const key = `${group} ${action}`;
      const known = cells.get(key);
      if (known) return known.counts;
      const counts = createCounts();
      cells.set(key, { group, action, counts });
      return counts;
    },
    /** Begins a phase, which then appears among the phases even if nothing is counted. */
    begin: (phase: string): void => void cellsOf(phase),
    phases: (): string[] => [...phases.keys()],
    isIn: ({ deviceId, operation = '' }: Counted, scope: Scope): boolean =>
      isIn({ group: groupOf(deviceId) ?? '', action: operation }, scope),
    /** The sums of a phase, or of the whole run. */
    figures(phase: string | undefined, scope: Scope): Figures {
      const cells = phase === undefined ? [...phases.values()] : [phases.get(phase) ?? new Map<string, Cell>()];
      const those = cells.flatMap((some) => [...some.values()].filter((cell) => isIn(cell, scope)));
      return addFigures(those.map(({ counts }) => counts.figures()));
    },
  };
}

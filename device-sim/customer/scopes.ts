import { addFigures, type Counts, createCounts } from './counts.ts';
import type { Figures } from './figures.ts';

/**
 * The part of a run that a figure is about: devices of one group, calls of one action, devices that were connected to
 * one node. Empty: everything.
 */
export interface Scope {
  readonly group?: string;
  readonly action?: string;
  /** The number of the node in the list of addresses, from 1. */
  readonly node?: string;
}

/** The device that a count is about, and the operation, by the name of its action. */
export interface Counted {
  readonly deviceId: string;
  readonly operation?: string;
}

/** The name of a scope in records of runs, such as `group: well`; empty for everything. */
export const nameOfScope = ({ group, action, node }: Scope): string =>
  Object.entries({ group, action, node })
    .flatMap(([kind, name]) => (name === undefined ? [] : [`${kind}: ${name}`]))
    .join(', ');

interface Cell extends Scope {
  readonly counts: Counts;
}

/**
 * Keeps one set of counters for each phase, group, action and node, so that each sum of them can be made. `groupOf` says
 * the group of a device, and `nodeOf` the node of its present connection, or of its last one.
 */
export function createScopedCounts(
  groupOf: (deviceId: string) => string | undefined,
  nodeOf: (deviceId: string) => string | undefined = () => undefined,
) {
  const phases = new Map<string, Map<string, Cell>>();

  function cellsOf(phase: string): Map<string, Cell> {
    const known = phases.get(phase);
    if (known) return known;
    const made = new Map<string, Cell>();
    phases.set(phase, made);
    return made;
  }

  const isIn = (cell: Scope, { group, action, node }: Scope): boolean =>
    (group === undefined || cell.group === group) &&
    (action === undefined || cell.action === action) &&
    (node === undefined || cell.node === node);

  return {
    /** The counters of a phase for a device and an operation, or for neither. */
    of(phase: string, about?: Counted): Counts {
      const cells = cellsOf(phase);
      const group = about === undefined ? '' : (groupOf(about.deviceId) ?? '');
      const action = about?.operation ?? '';
      const node = about === undefined ? '' : (nodeOf(about.deviceId) ?? '');
      const key = `${group} ${action} ${node}`;
      const known = cells.get(key);
      if (known) return known.counts;
      const counts = createCounts();
      cells.set(key, { group, action, node, counts });
      return counts;
    },
    /** Begins a phase, which then appears among the phases even if nothing is counted. */
    begin: (phase: string): void => void cellsOf(phase),
    phases: (): string[] => [...phases.keys()],
    isIn: ({ deviceId, operation = '' }: Counted, scope: Scope): boolean =>
      isIn({ group: groupOf(deviceId) ?? '', action: operation, node: nodeOf(deviceId) ?? '' }, scope),
    /** The sums of a phase, or of the whole run. */
    figures(phase: string | undefined, scope: Scope): Figures {
      const cells = phase === undefined ? [...phases.values()] : [phases.get(phase) ?? new Map<string, Cell>()];
      const those = cells.flatMap((some) => [...some.values()].filter((cell) => isIn(cell, scope)));
      return addFigures(those.map(({ counts }) => counts.figures()));
    },
  };
}

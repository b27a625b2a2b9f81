/**
 * A random decision about a device: which fault it has, how long it takes, or which action the customer requests from
 * it.
 */
export interface Decided {
  /** The index of the device in the scenario, from 0. */
  readonly place: number;
  /** The kind of moment at which the decision was made: `action`, `command`, `connection` ... */
  readonly kind: string;
  readonly operation?: string | undefined;
  readonly key: number | string;
  readonly about: string;
  readonly outcome: string | number | boolean | null;
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Collects all decisions of a run as lines of JSON, ordered by device and content, not by time. Two runs of the same
 * scenario and seed write the same lines, however fast they were.
 */
export function decisionLog(): { add(decided: Decided): void; text(): string } {
  const lines: { place: number; line: string }[] = [];
  return {
    add({ place, kind, operation, key, about, outcome }) {
      const decided = { device: place, kind, ...(operation !== undefined && { operation }), key, about, outcome };
      lines.push({ place, line: JSON.stringify(decided) });
    },
    text() {
      const sorted = lines.toSorted((a, b) => a.place - b.place || order(a.line, b.line));
      // A repeated command gives the same line again, which is written once.
      const all = new Set(sorted.map(({ line }) => line));
      return [...all].map((line) => `${line}\n`).join('');
    },
  };
}

/** A decision about a device: a fault, or a request to it. */
export interface Decided {
  /** The place of the device in the scenario. */
  readonly place: number;
  /** The occasion: `action`, `command`, `connection` ... */
  readonly kind: string;
  readonly operation?: string | undefined;
  readonly key: number | string;
  readonly about: string;
  readonly outcome: string | number | boolean | null;
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * All decisions of a run, one object a line, ordered by device and occasion instead of time. Two runs of the same
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
      // A repeated command has the same occasion again, which was decided once.
      const all = new Set(sorted.map(({ line }) => line));
      return [...all].map((line) => `${line}\n`).join('');
    },
  };
}

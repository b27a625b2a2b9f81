/** Something that was decided about a device: what befell it, or what was asked of it. */
export interface Decided {
  /** Of the device, in the scenario. */
  readonly place: number;
  /** What gave the occasion: `action`, `command`, `connection` ... */
  readonly kind: string;
  readonly operation?: string | undefined;
  readonly key: number | string;
  readonly about: string;
  readonly outcome: string | number | boolean | null;
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * All that was decided in a run, one object a line, ordered by device and occasion and not by time: two runs of the same
 * scenario and seed write the same lines, however fast either of them was.
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
      // The same occasion may come again, when a command does: it is decided once.
      const all = new Set(sorted.map(({ line }) => line));
      return [...all].map((line) => `${line}\n`).join('');
    },
  };
}

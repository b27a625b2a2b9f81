import type { Figures } from '../customer/figures.ts';
import { nameOfScope, type Scope } from '../customer/scopes.ts';
import { type Chapter, WHOLE_RUN } from '../report/record.ts';

/** Counts of the fleet that describe the present state. All other counts are totals since the start. */
const STANDING: readonly string[] = [
  'devices',
  'connected',
  'activated',
  'outstanding',
  'connectRate',
  'memoryPerConnection',
  'memoryPerDevice',
  'recovery',
];

type Counts = Readonly<Record<string, number>>;

/** Collects the figures of the run and of each phase. A phase that is repeated has one entry for all its rounds. */
export interface Chapters {
  /** Begins a phase, and ends the former one. */
  begin(name: string): void;
  end(): void;
  /** The figures until now: of the whole run first, then of each phase. */
  all(): Chapter[];
}

interface Kept {
  readonly spans: { from: number; to: number }[];
  fleet: Record<string, number>;
}

/** By how much each total has grown since `before`; for counts of the present state, the count itself. */
function gained(now: Counts, before: Counts): Record<string, number> {
  return Object.fromEntries(
    Object.entries(now).map(([name, count]) => [name, STANDING.includes(name) ? count : count - (before[name] ?? 0)]),
  );
}

function added(one: Counts, other: Counts): Record<string, number> {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      STANDING.includes(name) ? (other[name] ?? one[name] ?? 0) : (one[name] ?? 0) + (other[name] ?? 0),
    ]),
  );
}

/**
 * `now` is in milliseconds since the start of the run; `figures` without a phase are those of the whole run; `scopes` are
 * the groups and actions for which each chapter also has figures.
 */
export function createChapters({
  now,
  counts,
  figures,
  scopes = [],
}: {
  now: () => number;
  counts: () => Counts;
  figures: (phase?: string, scope?: Scope) => Figures | null;
  scopes?: readonly Scope[];
}): Chapters {
  const kept = new Map<string, Kept>();
  let open: { name: string; from: number; before: Counts } | undefined;

  /** The figures of the running phase, up to now, together with those of its earlier rounds. */
  function grown({ name, from, before }: NonNullable<typeof open>): Kept {
    const { spans = [], fleet = {} } = kept.get(name) ?? {};
    return { spans: [...spans, { from, to: now() }], fleet: added(fleet, gained(counts(), before)) };
  }

  function figuresOf(phase?: string): Pick<Chapter, 'figures' | 'scopes'> {
    const scoped = scopes.flatMap((scope) => {
      const own = figures(phase, scope);
      return own ? [[nameOfScope(scope), own] as const] : [];
    });
    return { figures: figures(phase), ...(scoped.length > 0 && { scopes: Object.fromEntries(scoped) }) };
  }

  function end(): void {
    if (open) kept.set(open.name, grown(open));
    open = undefined;
  }

  return {
    begin(name) {
      end();
      open = { name, from: now(), before: counts() };
    },
    end,
    all() {
      const spans = [{ from: 0, to: now() }];
      const whole = { name: WHOLE_RUN, spans, ...figuresOf(), fleet: { ...counts() } };
      const phases = new Map(kept);
      if (open) phases.set(open.name, grown(open));
      return [whole, ...[...phases].map(([name, chapter]) => ({ name, ...chapter, ...figuresOf(name) }))];
    },
  };
}

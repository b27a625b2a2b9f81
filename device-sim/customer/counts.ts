import { createHistogram, type Histogram } from '../histogram.ts';
import { type Figures, STAGES, type Stage } from './figures.ts';

const NUMBERS = [
  'requests',
  'accepted',
  'carriedOut',
  'errors',
  'postponed',
  'delivered',
  'succeeded',
  'failed',
  'cancelled',
  'unfinished',
  'lost',
  'doubled',
  'late',
  'unordered',
  'reused',
  'violations',
  'wrong',
  'forged',
  'unasked',
  'resent',
  'repeated',
  'hammering',
  'window',
  'eventsTold',
  'eventsReceived',
  'eventsLost',
  'eventsDoubled',
  'rollouts',
  'rolloutDevices',
  'spared',
  'overshoot',
  'stages',
  'plannedStages',
  'pushed',
  'pulled',
  'order',
  'gaps',
  'customerLost',
  'customerAgain',
] as const satisfies (keyof Figures)[];
type Counter = (typeof NUMBERS)[number];
const TABLES = ['refused', 'failures', 'rolloutStates'] as const satisfies (keyof Figures)[];
type Table = (typeof TABLES)[number];
const emptyTables = (): Record<Table, Record<string, number>> => ({ refused: {}, failures: {}, rolloutStates: {} });

/** The counters of one phase. */
export interface Counts {
  add(counter: Counter, some?: number): void;
  addTo(table: Table, name: string | number, some?: number): void;
  took(stage: Stage, milliseconds: number): void;
  figures(): Figures;
}

/** Adds up the figures of several phases or of several processes. */
export function addFigures(all: readonly Figures[]): Figures {
  const sum = createCounts();
  const histograms = STAGES.map((stage): [Stage, Histogram] => [stage, createHistogram()]);
  const tables = emptyTables();
  for (const figures of all) {
    // A report of an earlier version lacks the later figures.
    for (const name of NUMBERS) sum.add(name, (figures as Partial<Figures>)[name] ?? 0);
    for (const table of TABLES)
      for (const [name, some] of Object.entries(figures[table]))
        tables[table][name] = (tables[table][name] ?? 0) + some;
    for (const [stage, histogram] of histograms) histogram.add(figures.latency[stage]);
  }
  return { ...sum.figures(), ...tables, latency: latencyOf(histograms) };
}

const latencyOf = (histograms: readonly [Stage, Histogram][]): Figures['latency'] =>
  Object.fromEntries(histograms.map(([stage, histogram]) => [stage, histogram.data()])) as Figures['latency'];

export function createCounts(): Counts {
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, 0])) as Record<Counter, number>;
  const tables = emptyTables();
  const histograms = STAGES.map((stage): [Stage, Histogram] => [stage, createHistogram()]);
  const byStage = new Map(histograms);
  return {
    add(counter, some = 1) {
      numbers[counter] += some;
    },
    addTo(table, name, some = 1) {
      tables[table][name] = (tables[table][name] ?? 0) + some;
    },
    took: (stage, milliseconds) => byStage.get(stage)?.record(Math.max(0, milliseconds)),
    figures: () => ({
      ...numbers,
      refused: { ...tables.refused },
      failures: { ...tables.failures },
      rolloutStates: { ...tables.rolloutStates },
      latency: latencyOf(histograms),
    }),
  };
}

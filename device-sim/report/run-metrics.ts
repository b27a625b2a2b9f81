import { STAGES } from '../customer/figures.ts';
import { FIGURES, numberOf } from './figure-names.ts';
import type { Chapter } from './record.ts';

const PERCENTS = [50, 90, 99, 100];

/** The state of a run, as far as its metrics show it. */
export interface Shown {
  chapters(): readonly Chapter[];
  standing(): readonly {
    readonly expectation: { readonly text: string; readonly phase: string | null };
    readonly holds: boolean;
  }[];
}

/** A value of a metric, with the labels that name it. */
interface Point {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface RunMetric {
  readonly name: string;
  readonly about: string;
  readonly labels: readonly string[];
  /** The values until now. */
  read(run: Shown): Point[];
}

/** The point of a value that may not be there. */
const pointOf = (labels: Point['labels'], value: number | undefined): Point[] =>
  value === undefined ? [] : [{ labels, value }];

/** The metrics of a run, for all programs that read them while it goes on. */
export const RUN_METRICS: readonly RunMetric[] = [
  {
    name: 'lapelsim_figure',
    about: 'A figure of the run until now, by its name in expectations and by phase; `run` is the whole run',
    labels: ['figure', 'phase'],
    read: ({ chapters }) =>
      chapters().flatMap((chapter) =>
        Object.keys(FIGURES).flatMap((figure) =>
          pointOf({ figure, phase: chapter.name }, numberOf({ kind: 'count', name: figure, detail: null }, chapter)),
        ),
      ),
  },
  {
    name: 'lapelsim_latency_seconds',
    about: 'Time from a request to a stage of its transaction, by percent of the transactions that were not slower',
    labels: ['stage', 'percent', 'phase'],
    read: ({ chapters }) =>
      chapters().flatMap((chapter) =>
        STAGES.flatMap((stage) =>
          PERCENTS.flatMap((percent) => {
            const milliseconds = numberOf({ kind: 'latency', percent, stage }, chapter);
            const labels = { stage, percent: String(percent), phase: chapter.name };
            return pointOf(labels, milliseconds === undefined ? undefined : milliseconds / 1000);
          }),
        ),
      ),
  },
  {
    name: 'lapelsim_expectation_holds',
    about: 'Whether an expectation holds until now: 1, or 0',
    labels: ['expectation', 'phase'],
    read: ({ standing }) =>
      standing().map(({ expectation, holds }) => ({
        labels: { expectation: expectation.text, phase: expectation.phase ?? 'run' },
        value: holds ? 1 : 0,
      })),
  },
];

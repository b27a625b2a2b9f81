import { STAGES, type Stage } from '../customer/figures.ts';
import { type HistogramData, upperBound } from '../histogram.ts';
import * as show from '../show.ts';
import type { Html } from './html.ts';
import { type Band, type Line, linePlot } from './plots.ts';
import { type Chapter, type Latencies, type RunRecord, type Sample, WHOLE_RUN } from './record.ts';
import { thinned } from './samples.ts';
import { countScale, latencyScale, timeScale } from './scales.ts';

/** The most samples in a plot; more could not be told apart. */
const MOST_PLACES = 300;

const bandsOf = (chapters: readonly Chapter[]): Band[] =>
  chapters
    .filter(({ name }) => name !== WHOLE_RUN)
    .flatMap(({ name, spans }) => spans.map((span) => ({ name, ...span })))
    .sort((a, b) => a.from - b.from);

function words({ at, connected, delivered, settledAfter, accepted, unfinished }: Sample): string {
  const latency = (name: string, some: Latencies | null): string[] =>
    some ? [`${name} ${show.duration(some.p50)}, 99 % within ${show.duration(some.p99)}`] : [];
  return [
    show.clock(at),
    `${show.count(connected)} connected`,
    `${show.count(accepted)} accepted so far, ${show.count(unfinished)} without a result`,
    ...latency('to the device', delivered),
    ...latency('to the result', settledAfter),
  ].join('\n');
}

/** Latency and connected devices, over time. */
export function overTime(record: RunRecord): { latency: Html | null; connected: Html } {
  const samples = thinned(record.samples, MOST_PLACES);
  const x = timeScale(record.milliseconds);
  const bands = bandsOf(record.chapters);
  const hints = samples.map((sample) => ({ x: sample.at, text: words(sample) }));
  const line = (name: string, look: string, read: (sample: Sample) => number | undefined): Line => ({
    name,
    look,
    points: samples.map((sample) => ({ x: sample.at, y: read(sample) ?? null })),
  });
  const latencies = samples
    .flatMap(({ delivered, settledAfter }) => [delivered, settledAfter])
    .filter((one) => one !== null);
  const connected = linePlot({
    title: 'Connected devices',
    note: 'Once a second.',
    x,
    y: countScale(Math.max(0, ...samples.map((sample) => sample.connected))),
    lines: [{ ...line('connected', 'three', (sample) => sample.connected), filled: true }],
    bands,
    hints,
  });
  if (latencies.length === 0) return { latency: null, connected };
  return {
    connected,
    latency: linePlot({
      title: 'Latency over time',
      note: 'From a request to its command on the device, and to its result at the customer.',
      x,
      y: latencyScale(Math.min(...latencies.map(({ p50 }) => p50)), Math.max(...latencies.map(({ p99 }) => p99))),
      lines: [
        line('result, p99', 'two thin', ({ settledAfter }) => settledAfter?.p99),
        line('device, p99', 'one thin', ({ delivered }) => delivered?.p99),
        line('result, p50', 'two', ({ settledAfter }) => settledAfter?.p50),
        line('device, p50', 'one', ({ delivered }) => delivered?.p50),
      ],
      bands,
      hints,
    }),
  };
}

const NAMES: Readonly<Record<Stage, { name: string; look: string }>> = {
  accepted: { name: '201', look: 'calm' },
  delivered: { name: 'device', look: 'one' },
  answered: { name: 'answer', look: 'three' },
  settled: { name: 'result', look: 'two' },
};

/** For each bucket, the percentage of durations that are not longer than its bound: the points of a rising curve. */
function rising({ buckets, count, min }: HistogramData): { x: number; y: number }[] {
  let seen = 0;
  const points = buckets.map(([bucket, some]) => {
    seen += some;
    return { x: upperBound(bucket), y: (100 * seen) / count };
  });
  return [{ x: min, y: 0 }, ...points];
}

/** The distribution of latencies, for each stage. */
export function distribution({ figures }: Chapter): Html {
  const stages = STAGES.flatMap((stage) => {
    const data = figures?.latency[stage];
    return data && data.count > 0 ? [{ stage, data }] : [];
  });
  const low = Math.min(...stages.map(({ data }) => data.min), 1000);
  const high = Math.max(...stages.map(({ data }) => data.max), 1);
  const x = latencyScale(low, high);
  const y = {
    at: (value: number) => value / 100,
    ticks: [0, 25, 50, 75, 100].map((at) => ({ at: at / 100, label: `${at} %` })),
  };
  return linePlot({
    title: 'Distribution of latency',
    note: 'The share that took no longer.',
    x,
    y,
    upright: true,
    lines: stages.map(({ stage, data }) => ({ ...NAMES[stage], points: rising(data) })),
  });
}

import { SECONDS, STEP_SECONDS } from '../runtime/metric-kinds.ts';

/** The steps of a command, in order; the last is that of its webhook. */
export const STEPS = ['published', 'received', 'answered', 'delivered'] as const;
export type Step = (typeof STEPS)[number];

/** The answers of one route of the API: all, those with a status of 4xx and of 5xx, and their times by bucket. */
export interface RouteFigures {
  requests: number;
  refused: number;
  failed: number;
  times: number[];
}

/**
 * How the service worked in a period. The counts of a list are those of the buckets of a histogram, in order, and at
 * its end of the values above all of them.
 */
export interface ServiceFigures {
  accepted: number;
  steps: Partial<Record<Step, number[]>>;
  routes: Record<string, RouteFigures>;
  /** The transactions that ended, by operation: all, and those that failed. Rows of earlier versions have none. */
  ended?: Record<string, Ended>;
}
export interface Ended {
  finished: number;
  failed: number;
}

interface Sample {
  value: number;
  labels: object;
  metricName?: string;
}
/** The part of a metric that is read here. */
export interface Readable {
  get(): Promise<{ values: Sample[] }>;
}
export interface Measured {
  transactionsCreated: Readable;
  transactionsFinished: Readable;
  stepSeconds: Readable;
  httpRequests: Readable;
  httpSeconds: Readable;
}

export const nothingYet = (): ServiceFigures => ({ accepted: 0, steps: {}, routes: {} });
const noAnswers = (): RouteFigures => ({ requests: 0, refused: 0, failed: 0, times: [] });

/** The labels that are read here. */
interface Labels {
  listener?: string;
  route?: string;
  step?: string;
  operation?: string;
  status?: number | string;
  le?: number | string;
}

/** Turns the cumulative counts of a histogram's buckets into a list of counts for each of its series. */
function countsBy(
  samples: readonly Sample[],
  bounds: readonly number[],
  nameOf: (labels: Labels) => string | undefined,
) {
  const found = new Map<string, number[]>();
  for (const { value, labels, metricName } of samples) {
    const name = nameOf(labels);
    if (name === undefined || !metricName?.endsWith('_bucket')) continue;
    const bucket = bounds.indexOf(Number((labels as Labels).le));
    const counts = found.get(name) ?? Array.from({ length: bounds.length + 1 }, () => 0);
    counts[bucket < 0 ? bounds.length : bucket] = value;
    found.set(name, counts);
  }
  return new Map([...found].map(([name, counts]) => [name, counts.map((count, at) => count - (counts[at - 1] ?? 0))]));
}

/** Reads the counts since the start of the process. */
export async function countedSoFar(metrics: Measured): Promise<ServiceFigures> {
  const [created, finished, steps, requests, times] = await Promise.all([
    metrics.transactionsCreated.get(),
    metrics.transactionsFinished.get(),
    metrics.stepSeconds.get(),
    metrics.httpRequests.get(),
    metrics.httpSeconds.get(),
  ]);
  const routeOf = ({ listener, route }: Labels): string | undefined => (listener === 'api' ? route : undefined);
  const figures = nothingYet();
  for (const { value } of created.values) figures.accepted += value;
  const ended: Record<string, Ended> = {};
  for (const { value, labels } of finished.values) {
    const { operation = '', status } = labels as Labels;
    const of = ended[operation] ?? { finished: 0, failed: 0 };
    ended[operation] = of;
    of.finished += value;
    if (status === 'failed') of.failed += value;
  }
  figures.ended = ended;
  for (const [step, counts] of countsBy(steps.values, STEP_SECONDS, (labels) => labels.step))
    figures.steps[step as Step] = counts;
  for (const { value, labels } of requests.values) {
    const route = routeOf(labels);
    if (route === undefined) continue;
    const of = figures.routes[route] ?? noAnswers();
    figures.routes[route] = of;
    const status = Number((labels as Labels).status);
    of.requests += value;
    if (status >= 500) of.failed += value;
    else if (status >= 400) of.refused += value;
  }
  for (const [route, counts] of countsBy(times.values, SECONDS, routeOf))
    figures.routes[route] = { ...(figures.routes[route] ?? noAnswers()), times: counts };
  return figures;
}

const both = (one: readonly number[] = [], other: readonly number[] = [], sign = 1): number[] =>
  Array.from({ length: Math.max(one.length, other.length) }, (_, at) => (one[at] ?? 0) + sign * (other[at] ?? 0));

/** Adds the figures of two periods; with a sign of -1, takes those of the second away. */
function combined(one: ServiceFigures, other: ServiceFigures, sign: 1 | -1): ServiceFigures {
  const ended: Record<string, Ended> = {};
  for (const operation of new Set([...Object.keys(one.ended ?? {}), ...Object.keys(other.ended ?? {})])) {
    const [a, b] = [one.ended?.[operation], other.ended?.[operation]];
    const all = (a?.finished ?? 0) + sign * (b?.finished ?? 0);
    if (all !== 0) ended[operation] = { finished: all, failed: (a?.failed ?? 0) + sign * (b?.failed ?? 0) };
  }
  const figures: ServiceFigures = { accepted: one.accepted + sign * other.accepted, steps: {}, routes: {}, ended };
  for (const step of STEPS) {
    const counts = both(one.steps[step], other.steps[step], sign);
    if (counts.some((count) => count !== 0)) figures.steps[step] = counts;
  }
  for (const route of new Set([...Object.keys(one.routes), ...Object.keys(other.routes)])) {
    const [a, b] = [one.routes[route] ?? noAnswers(), other.routes[route] ?? noAnswers()];
    const requests = a.requests + sign * b.requests;
    if (requests === 0) continue;
    figures.routes[route] = {
      requests,
      refused: a.refused + sign * b.refused,
      failed: a.failed + sign * b.failed,
      times: both(a.times, b.times, sign),
    };
  }
  return figures;
}

export const sumOf = (one: ServiceFigures, other: ServiceFigures): ServiceFigures => combined(one, other, 1);
export const since = (now: ServiceFigures, before: ServiceFigures): ServiceFigures => combined(now, before, -1);

/**
 * The value that a share of all values does not exceed, in milliseconds, by the straight line between the bounds of its
 * bucket; null without values. A value above all buckets counts as the last bound.
 */
function quantile(counts: readonly number[], bounds: readonly number[], share: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  let left = share * all;
  for (const [at, bound] of bounds.entries()) {
    const count = counts[at] ?? 0;
    const from = bounds[at - 1] ?? 0;
    if (count > 0 && left <= count) return Math.round((from + ((bound - from) * left) / count) * 10_000) / 10;
    left -= count;
  }
  return (bounds.at(-1) ?? 0) * 1000;
}

/** The number of values, and the values in milliseconds that 50 and 99 of 100 of them do not exceed. */
export interface Times {
  count: number;
  p50Ms: number | null;
  p99Ms: number | null;
}

const timesOf = (counts: readonly number[], bounds: readonly number[]): Times => ({
  count: counts.reduce((sum, count) => sum + count, 0),
  p50Ms: quantile(counts, bounds, 0.5),
  p99Ms: quantile(counts, bounds, 0.99),
});

export const timesOfStep = ({ steps }: ServiceFigures, step: Step): Times => timesOf(steps[step] ?? [], STEP_SECONDS);

/** The answers of each route, those with most answers of 5xx first. */
export const routesOf = ({ routes }: ServiceFigures) =>
  Object.entries(routes)
    .map(([route, { requests, refused, failed, times }]) => {
      const { p50Ms, p99Ms } = timesOf(times, SECONDS);
      return { route, requests, refused, failed, p50Ms, p99Ms };
    })
    .sort((a, b) => b.failed - a.failed || b.requests - a.requests || (a.route < b.route ? -1 : 1));

/** The transactions that ended, by operation, those with the largest share of failures first. */
export const operationsOf = ({ ended = {} }: ServiceFigures) =>
  Object.entries(ended)
    .map(([operation, counts]) => ({ operation, ...counts }))
    .sort(
      (a, b) =>
        b.failed / b.finished - a.failed / a.finished ||
        b.finished - a.finished ||
        (a.operation < b.operation ? -1 : 1),
    );

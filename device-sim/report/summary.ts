import type { Figures, Stage } from '../customer/figures.ts';
import { percentile } from '../histogram.ts';
import * as show from '../show.ts';
import { violationsIn } from './figure-names.ts';
import { type Chapter, type Latencies, type RunRecord, type Verdict, WHOLE_RUN } from './record.ts';

/** The chapter of the whole run. */
export function total({ chapters }: RunRecord): Chapter {
  const whole = chapters.find(({ name }) => name === WHOLE_RUN);
  if (!whole) throw new Error('a record has no chapter of the whole run');
  return whole;
}

export const holdsOf = ({ verdicts }: RunRecord): { held: number; all: number } => ({
  held: verdicts.filter(({ holds }) => holds).length,
  all: verdicts.length,
});

/** Figures that promises of the service are about. They are judged even in a run that did not take place as planned. */
const PROMISES =
  /^(lost|doubled|unordered|forged|reused|unaccounted|wrong|repeated|hammering|window|violations|eventsLost|eventsDoubled|crashes|overshoot|order|gaps|memory|memoryPerConnection)\b/;

export const isBrokenPromise = ({ text, holds, value }: Verdict): boolean =>
  !holds && value !== null && PROMISES.test(text);

export function latencyOf({ figures }: Chapter, stage: Stage): Latencies | undefined {
  const data = figures?.latency[stage];
  return data && data.count > 0 ? { p50: percentile(data, 0.5), p99: percentile(data, 0.99) } : undefined;
}

interface Row {
  readonly name: string;
  readonly value: number;
  readonly look: string;
}

/** How many of the accepted transactions ended in which state. */
export function outcomes({ figures }: Chapter): Row[] {
  if (!figures) return [];
  const rows: Row[] = [
    { name: 'succeeded', value: figures.succeeded, look: 'good' },
    { name: 'failed', value: figures.failed, look: 'warn' },
    { name: 'cancelled', value: figures.cancelled, look: 'calm' },
    { name: 'unfinished: the device is offline, or never answered', value: figures.unfinished, look: 'calm' },
    { name: 'lost', value: figures.lost, look: 'bad' },
  ];
  return rows.filter(({ value, name }) => value > 0 || name === 'succeeded' || name === 'lost');
}

/** How many transactions failed with each error code, and how many calls were refused with each status. */
export function calls({ figures }: Chapter): Row[] {
  if (!figures) return [];
  const codes = Object.entries(figures.failures).sort(([, a], [, b]) => b - a);
  const statuses = Object.entries(figures.refused).sort(([, a], [, b]) => b - a);
  return [
    { name: 'succeeded', value: figures.succeeded, look: 'good' },
    ...codes.map(([name, value]) => ({ name, value, look: 'warn' })),
    ...statuses.map(([status, value]) => ({ name: `refused with ${status}`, value, look: 'two' })),
    ...(figures.errors > 0 ? [{ name: 'no answer, or 5xx', value: figures.errors, look: 'bad' }] : []),
  ];
}

/** The events that came to the programs of the customer; undefined if it has none. */
export function programsText({
  pushed,
  pulled,
  order,
  gaps,
  customerLost,
  customerAgain,
}: Figures): string | undefined {
  if (pushed + pulled + gaps === 0) return undefined;
  const own =
    customerLost + customerAgain > 0
      ? `; by their own faults the programs lost ${show.count(customerLost)}, and got ${show.count(customerAgain)} again`
      : '';
  return `endpoints got ${show.count(pushed)} events, consumers ${show.count(pulled)}; ${show.count(order)} in the wrong order, ${show.count(gaps)} missing${own}`;
}

/** Further facts about the run. Each line can be understood alone. */
export function facts(record: RunRecord): [string, string][] {
  const { fleet, figures } = total(record);
  const of = (name: string): number => fleet[name] ?? 0;
  const { memory } = record;
  const rows: [string, string][] = [
    ['Devices activated', show.count(of('activated'))],
    ['Connections made', show.count(of('connections'))],
    ['Connections that ended unexpectedly', show.count(of('losses'))],
    ['Connections that failed at the login', show.count(of('failedOpenings'))],
    ['Connections a second, at the start', of('connectRate') > 0 ? show.count(of('connectRate')) : '–'],
    ['Memory for each device', of('memoryPerDevice') > 0 ? show.bytes(of('memoryPerDevice')) : '–'],
    ['Memory of the process, at the end', show.bytes(memory.end)],
    ['Commands that reached devices', show.count(of('commands'))],
    ['Repeated commands', show.count(of('repetitions'))],
    ['Messages in which the service reported faults', show.count(of('complaints'))],
    ['Breaches of the contract by the service', show.count(violationsIn(total(record)) ?? 0)],
  ];
  if (of('downloads') > 0)
    rows.push(['Downloads', `${show.count(of('downloads'))}, ${show.bytes(of('downloadedBytes'))}`]);
  if (of('uploads') + of('uploadFailures') > 0)
    rows.push(['Uploads', `${show.count(of('uploads'))} arrived, ${show.count(of('uploadFailures'))} given up`]);
  if (of('unwanted') > 0) rows.push(['Files for which the service gave no upload URL', show.count(of('unwanted'))]);
  if (figures && figures.eventsTold > 0)
    rows.push([
      'Events of devices',
      `${show.count(figures.eventsReceived)} of ${show.count(figures.eventsTold)} received`,
    ]);
  const programs = figures && programsText(figures);
  if (programs) rows.push(['Programs of the customer', programs]);
  if (figures && figures.resent > 0) rows.push(['Repeated webhooks, which are allowed', show.count(figures.resent)]);
  if (figures && figures.postponed > 0) rows.push(['Waits because of 429', show.count(figures.postponed)]);
  const { standstill, loopDelay, behind } = record.own;
  rows.push([
    'Simulator: stood still, event loop late, actions late (at most)',
    [standstill, loopDelay, behind].map(show.duration).join(', '),
  ]);
  const looks = Object.values(record.looks ?? {});
  if (looks.length > 0)
    rows.push(['Checks that have looked', `${looks.filter((times) => times > 0).length} of ${looks.length}`]);
  if (of('skipped') > 0) rows.push(['Actions that were never begun', show.count(of('skipped'))]);
  return rows;
}

import { type Child, div, span, type VNode } from '../base/elements.ts';
import { count, counted, when } from '../base/format.ts';
import type { Receiver } from '../base/rows.ts';

const HOUR = 3_600_000;
/** The share of an hour's attempts that may fail, before the hour is shown as bad. */
const WARN = 0.5;

const toneOf = (delivered: number, failed: number): string => {
  if (delivered + failed === 0) return '';
  if (failed === 0) return 'good';
  return failed / (delivered + failed) < WARN ? 'warn' : 'bad';
};

const wordsOf = (good: number, bad: number): string =>
  good + bad === 0
    ? 'no attempts'
    : `${Math.floor((good / (good + bad)) * 1000) / 10} % of ${counted(good + bad, 'attempt')} delivered`;

/** The attempts of the last 24 hours, without the hours: a bar of those that were accepted and those that were not. */
export function shareBar({ delivered, failed }: { delivered: number; failed: number }): VNode {
  const words = wordsOf(delivered, failed);
  const part = (tone: string, attempts: number): Child =>
    attempts === 0 ? null : span({ key: tone, class: `hour ${tone}`, style: { flexGrow: attempts } });
  return div(
    { class: 'success', title: `${count(delivered)} attempts delivered, ${count(failed)} failed in the last 24 hours` },
    delivered + failed === 0
      ? null
      : div(
          { class: 'share', role: 'img', 'aria-label': `Attempts: ${words}` },
          part('good', delivered),
          part('bad', failed),
        ),
    span({ class: 'num small quiet' }, words),
  );
}

/** The attempts of a receiver in the last 24 hours: a part for each hour, and the share of successes in words. */
export function successBar({ since, delivered, failed }: Receiver['hours']): VNode {
  const [good, bad] = [delivered, failed].map((counts) => counts.reduce((sum, one) => sum + one, 0)) as [
    number,
    number,
  ];
  const words = wordsOf(good, bad);
  return div(
    { class: 'success', title: `${count(good)} attempts delivered, ${count(bad)} failed in the last 24 hours` },
    div(
      { class: 'hours', role: 'img', 'aria-label': `Attempts by hour: ${words}` },
      delivered.map((one, hour) => {
        const no = failed[hour] ?? 0;
        const at = new Date(Date.parse(since) + hour * HOUR).toISOString();
        return span({
          key: hour,
          class: `hour ${toneOf(one, no)}`,
          title: `from ${when(at)}: ${count(one)} delivered, ${count(no)} failed`,
        });
      }),
    ),
    span({ class: 'num small quiet' }, words),
  );
}

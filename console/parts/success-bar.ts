import { div, span, type VNode } from '../base/elements.ts';
import { count, when } from '../base/format.ts';
import type { Receiver } from '../base/rows.ts';

const HOUR = 3_600_000;
/** The share of an hour's attempts that may fail, before the hour is shown as bad. */
const WARN = 0.5;

const toneOf = (delivered: number, failed: number): string => {
  if (delivered + failed === 0) return '';
  if (failed === 0) return 'good';
  return failed / (delivered + failed) < WARN ? 'warn' : 'bad';
};

/** The attempts of a receiver in the last 24 hours: a part for each hour, and the share of successes in words. */
export function successBar({ since, delivered, failed }: Receiver['hours']): VNode {
  const [good, bad] = [delivered, failed].map((counts) => counts.reduce((sum, one) => sum + one, 0)) as [
    number,
    number,
  ];
  const words =
    good + bad === 0 ? 'no attempts' : `${Math.floor((good / (good + bad)) * 1000) / 10} % of ${count(good + bad)}`;
  return div(
    { class: 'success', title: `${count(good)} attempts delivered, ${count(bad)} failed in the last 24 hours` },
    div(
      { class: 'hours', role: 'img', 'aria-label': `Attempts by hour: ${words} delivered` },
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
    span({ class: 'num small quiet nowrap' }, words),
  );
}

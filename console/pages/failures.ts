import { now } from '../base/clock.ts';
import { div, p, span, use, type VNode } from '../base/elements.ts';
import { count, visible, when } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, place } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import type { FailureBreakdown } from '../base/rows.ts';
import { startOfDay } from '../base/zone.ts';
import { bars } from '../parts/bars.ts';
import { figure } from '../parts/figure.ts';
import { type Filter, filterBar, hoursAgo } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { card } from '../parts/show.ts';

const HOUR = 3_600_000;
const EVERY = 30_000;

/** The periods of the page. */
function periodFilter(): Filter {
  const choices = [
    [hoursAgo(1), 'the last hour'],
    [new Date(startOfDay(now.peek())).toISOString(), 'since midnight'],
    [hoursAgo(7 * 24), 'the last 7 days'],
  ] as const;
  return { name: 'since', label: 'The last 24 hours', choices };
}

const FILTERS: readonly Filter[] = [
  { name: 'package', label: 'Package' },
  { name: 'version', label: 'Version (needs a package)' },
  { name: 'applicationId', label: 'Application' },
];

/** A share of installations in words: `5.1 %`. */
export const shareOf = (failed: number, finished: number): string =>
  finished === 0 ? '0 %' : `${Math.round((failed / finished) * 1000) / 10} %`;

const trend = (now: number, before: number): string =>
  now === before
    ? 'as many as before'
    : now > before
      ? `${count(now - before)} more than before`
      : `${count(before - now)} fewer than before`;

function shown(failures: FailureBreakdown, others: Record<string, string | undefined>): VNode {
  const { total, hours, versions, errors } = failures;
  const { since, until } = failures;
  const rowsOf = (more: Record<string, string>): string =>
    addressOf(['transactions'], { status: 'failed', ...others, since, until, ...more });
  const endOfHour = (at: string): string => new Date(Date.parse(at) + HOUR).toISOString();
  const ofHour = (at: string): Record<string, string> => ({
    since: at < since ? since : at,
    until: endOfHour(at) > until ? until : endOfHour(at),
  });
  const failing = versions.filter(({ failed }) => failed > 0);
  return div(
    { class: 'stack' },
    div(
      { class: 'figures' },
      figure({
        name: 'Failed installations',
        value: shareOf(total.failed, total.finished),
        note: `${count(total.failed)} of ${count(total.finished)}; ${shareOf(total.failedBefore, total.finishedBefore)} of ${count(total.finishedBefore)} in the period before`,
        href: rowsOf({}),
        tone: total.failed > 0 ? 'bad' : undefined,
      }),
    ),
    div(
      { class: 'columns' },
      card(
        { title: 'By version', side: span({ class: 'quiet small' }, 'share of the installations of this version') },
        failing.length === 0
          ? p({ class: 'quiet' }, 'No installation has failed.')
          : bars(
              'Failures by version',
              failing.map(({ package: name, version, failed, finished, failedBefore, finishedBefore }) => ({
                label: `${visible(name)} ${visible(version)}: ${shareOf(failed, finished)} of ${count(finished)}, before ${shareOf(failedBefore, finishedBefore)} of ${count(finishedBefore)}`,
                value: failed,
                href: rowsOf({ package: name, version }),
              })),
            ),
      ),
      card(
        { title: 'By error', side: span({ class: 'quiet small' }, 'share of the failures') },
        errors.length === 0
          ? p({ class: 'quiet' }, 'No installation has failed.')
          : bars(
              'Failures by error',
              errors.map(({ code, failed, failedBefore }) => ({
                label: `${visible(code)}: ${shareOf(failed, total.failed)}, ${trend(failed, failedBefore)}`,
                value: failed,
                href: rowsOf({ errorCode: code }),
              })),
            ),
      ),
    ),
    card(
      {
        title: 'By hour',
        side: span({ class: 'quiet small' }, 'failures, and their share of the installations that ended'),
      },
      hours.length === 0
        ? p({ class: 'quiet' }, 'No installation has ended.')
        : bars(
            'Failures by hour',
            hours.map(({ at, failed, finished }) => ({
              label: `${when(at)}: ${shareOf(failed, finished)} of ${count(finished)}`,
              value: failed,
              href: rowsOf(ofHour(at)),
            })),
          ),
    ),
  );
}

function Failures() {
  const { since, package: name, version, applicationId } = place.value.query;
  // A version without its package would be refused.
  const others = { package: name, version: name === undefined ? undefined : version, applicationId };
  const query = { since, ...others };
  const failures = useLoad(
    JSON.stringify(query),
    (signal) => read<FailureBreakdown>(operation('readFailures'), { query, signal }),
    { every: EVERY },
  );
  return [
    head({
      title: 'Failures',
      about:
        'Installations of software and firmware that ended, and how many of them failed. Each bar leads to its rows.',
    }),
    filterBar([periodFilter(), ...FILTERS]),
    loaded(failures, (found) => shown(found, others), { lines: 8 }),
  ];
}

export const failuresPage = (): VNode => use(Failures, {});

import { now } from '../base/clock.ts';
import { type Child, div, p, span, use, type VNode } from '../base/elements.ts';
import { count, visible, when } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { operationName } from '../base/operation-names.ts';
import { addressOf, place } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import type { FailureBreakdown, FleetHealth } from '../base/rows.ts';
import { startOfDay } from '../base/zone.ts';
import { bars } from '../parts/bars.ts';
import { figure } from '../parts/figure.ts';
import { type Filter, filterBar, hoursAgo } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { plots } from '../parts/plot.ts';
import { card } from '../parts/show.ts';

const HOUR = 3_600_000;
const EVERY = 30_000;
/** The most hours that are listed. */
const MOST_HOURS = 12;

/** The periods of the page. */
function periodFilter(): Filter {
  const choices = [
    [hoursAgo(1), 'an hour ago'],
    [new Date(startOfDay(now.peek())).toISOString(), 'midnight'],
    [hoursAgo(7 * 24), '7 days ago'],
  ] as const;
  return { name: 'since', label: 'Since', kind: 'time', choices };
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

const before = ({ failedBefore, finishedBefore }: FailureBreakdown['total']): string =>
  finishedBefore === 0 ? 'none ended' : `${shareOf(failedBefore, finishedBefore)} of ${count(finishedBefore)}`;

const shareIn = (failed: number, finished: number): number => (finished === 0 ? 0 : failed / finished);
/** A share with the counts behind it: `33 % · 6 of 18`. */
const withCounts = (failed: number, finished: number): string =>
  `${shareOf(failed, finished)} · ${count(failed)} of ${count(finished)}`;

/** Those with the largest share of failures first; of two alike, that with more failures. */
const byShare = (one: { failed: number; finished: number }, other: { failed: number; finished: number }): number =>
  shareIn(other.failed, other.finished) - shareIn(one.failed, one.finished) || other.failed - one.failed;

/** The share of failures by hour. Hours in which nothing ended are gaps of the line. */
function byHour({ hours, since, until }: FailureBreakdown): Child {
  if (hours.length === 0) return p({ class: 'pad quiet' }, 'No installation has ended.');
  const from = Date.parse(since) - (Date.parse(since) % HOUR);
  const known = new Map(hours.map((row) => [Date.parse(row.at), row]));
  const times = Array.from({ length: Math.ceil((Date.parse(until) - from) / HOUR) }, (_, hour) => from + hour * HOUR);
  return plots([
    {
      label: 'Share of installations that failed, by hour',
      times: times.map((at) => at / 1000),
      from: from / 1000,
      to: Date.parse(until) / 1000,
      show: (value) => `${Math.round(value * 10) / 10} %`,
      lines: [
        {
          name: 'failed',
          colour: 'plot-3',
          values: times.map((at) => {
            const row = known.get(at);
            return row ? 100 * shareIn(row.failed, row.finished) : null;
          }),
        },
      ],
    },
  ]);
}

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
  const failing = versions.filter(({ failed }) => failed > 0).toSorted(byShare);
  const worst = hours.filter(({ failed }) => failed > 0).toSorted(byShare);
  return div(
    { class: 'stack' },
    div(
      { class: 'figures' },
      figure({
        name: `Failed installations, ${when(since)} to ${when(until)}`,
        value: shareOf(total.failed, total.finished),
        note: `${count(total.failed)} of ${count(total.finished)}; ${before(total)} in the period before`,
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
                label: `${visible(name)} ${visible(version)}${finishedBefore === 0 ? '' : `, before ${shareOf(failedBefore, finishedBefore)}`}`,
                value: failed,
                share: shareIn(failed, finished),
                text: withCounts(failed, finished),
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
                label: `${visible(code)}, ${trend(failed, failedBefore)}`,
                value: failed,
                share: shareIn(failed, total.failed),
                text: withCounts(failed, total.failed),
                href: rowsOf({ errorCode: code }),
              })),
            ),
      ),
    ),
    card({ title: 'Over time', bare: true }, byHour(failures)),
    card(
      {
        title: 'Hours with the largest shares',
        side: span({ class: 'quiet small' }, 'share of what ended in the hour'),
      },
      worst.length === 0
        ? p({ class: 'quiet' }, 'No installation has failed.')
        : bars(
            'Failures by hour',
            worst.slice(0, MOST_HOURS).map(({ at, failed, finished }) => ({
              label: when(at),
              value: failed,
              share: shareIn(failed, finished),
              text: withCounts(failed, finished),
              href: rowsOf(ofHour(at)),
            })),
          ),
    ),
  );
}

/** All operations of the same period. They are counted as they end, for the service as a whole. */
function Operations({ since }: { since: string | undefined }) {
  const health = useLoad(
    since ?? '',
    (signal) => read<FleetHealth>(operation('readFleetHealth'), { query: { since, step: 3600 }, signal }),
    { every: EVERY },
  );
  return card(
    { title: 'By operation', side: span({ class: 'quiet small' }, 'share of all that ended; a week at most') },
    loaded(health, ({ operations }) =>
      operations.length === 0
        ? p({ class: 'quiet' }, 'No command has ended.')
        : bars(
            'Failures by operation',
            operations.map(({ operation: name, failed, finished }) => ({
              label: operationName(name),
              value: failed,
              share: shareIn(failed, finished),
              text: withCounts(failed, finished),
              href: addressOf(['transactions'], { operation: name, status: 'failed' }),
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
      about: 'How many of the commands that ended have failed, installations in detail. Each bar leads to its rows.',
    }),
    filterBar([periodFilter(), ...FILTERS]),
    loaded(failures, (found) => shown(found, others), { lines: 8 }),
    Object.values(others).every((value) => value === undefined) ? use(Operations, { since }) : null,
  ];
}

export const failuresPage = (): VNode => use(Failures, {});

import { a, button, type Child, div, dl, p, small, span, use, type VNode } from '../base/elements.ts';
import { useEvery } from '../base/every.ts';
import { compact, count, counted, duration, visible } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, ROLE } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import { entryWords, nameOf, rulesWords, selectorWords } from '../base/rollout-words.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { useWatch } from '../base/watching.ts';
import { figure } from '../parts/figure.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { named } from '../parts/named.ts';
import { rolloutBar, rolloutLegend } from '../parts/rollout-bar.ts';
import { aboutRollout, rolloutBadge } from '../parts/rollout-rows.ts';
import { age, bareId, card, fact, id, idLink, moment, nothing, until } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';
import { retry, rolloutActions } from './rollout-actions.ts';
import { distanceCard } from './rollout-distance.ts';
import { notice } from './rollout-notice.ts';
import { mayOrder } from './rollout-orders.ts';
import { resultsPlot } from './rollout-plot.ts';
import { stageList } from './rollout-stages.ts';

/** Milliseconds between two reads while it runs: the feed reports all changes, but the estimate of the end grows old. */
const READ_EVERY = 30_000;

/** Names of so many characters stay on one line. */
const SHORT_NAME = 24;
/** The most examples of devices beside an error; its link leads to all of them. */
const MOST_EXAMPLES = 2;

const percentOf = (part: number, all: number): string => (all === 0 ? '–' : `${Math.floor((part / all) * 100)} %`);

function figures(rollout: RolloutDetails) {
  const { rolloutId, counts, devices, resultsPerMinute } = rollout;
  const { succeeded, unchanged, failed, refused, cancelled } = counts;
  const ended = succeeded + unchanged + failed + refused + cancelled;
  const to = (one: keyof typeof counts): string | undefined =>
    counts[one] === 0 ? undefined : addressOf(['rollouts', rolloutId, 'devices'], { state: one });
  return div(
    { class: 'figures' },
    figure({
      name: 'Ended',
      value: percentOf(ended, devices),
      note: `${count(ended)} of ${counted(devices, 'device')}`,
    }),
    figure({
      name: 'Succeeded',
      value: count(succeeded),
      note: succeeded + failed === 0 ? 'no result yet' : `${percentOf(succeeded, succeeded + failed)} of the results`,
      href: to('succeeded'),
    }),
    figure({
      name: 'Failed',
      value: count(failed),
      note: refused === 0 ? 'none refused' : `${count(refused)} refused`,
      href: to('failed'),
      tone: failed > 0 ? 'bad' : undefined,
    }),
    figure({
      name: 'Results a minute',
      value: resultsPerMinute === null ? '–' : compact(resultsPerMinute),
      note: endWords(rollout),
    }),
  );
}

/** Says when the rollout ends, or the event that its end waits for. */
function endWords({ estimatedEnd, endWaitsFor, endedAt, state }: RolloutDetails): Child {
  if (endedAt !== null) return ['ended ', age(endedAt)];
  if (estimatedEnd !== null) return ['ends ', until(estimatedEnd), ' at this speed'];
  if (endWaitsFor === 'approval') return 'its end waits for an approval';
  if (endWaitsFor === 'resume') return 'its end waits until it goes on';
  if (endWaitsFor === 'cancel') return 'ends when it is cancelled';
  return state === 'running' ? 'its end is not known yet' : state;
}

function errorTable(rollout: RolloutDetails, done: () => void): VNode {
  const { rolloutId, errors } = rollout;
  const hasRetry = mayOrder(rollout, 'retry') && errors.some(({ state }) => state === 'failed');
  return rowsTable({
    label: 'Errors',
    rows: errors,
    keyOf: ({ state, code }) => `${state} ${code}`,
    columns: [
      {
        name: 'Error',
        kind: 'lead',
        cell: ({ state, code }) => [
          a({ href: addressOf(['rollouts', rolloutId, 'devices'], { state, code }), class: 'wrap' }, bareId(code)),
          small(null, state),
        ],
      },
      { name: 'Devices', kind: 'right', cell: ({ devices }) => count(devices) },
      {
        name: 'For example',
        cell: ({ examples }) =>
          examples
            .slice(0, MOST_EXAMPLES)
            .map((deviceId) => div({ key: deviceId }, idLink(addressOf(['devices', deviceId]), deviceId))),
      },
      ...(hasRetry
        ? [
            {
              name: '',
              kind: 'short' as const,
              cell: ({ state, code }: RolloutDetails['errors'][number]) =>
                state === 'failed'
                  ? button(
                      {
                        type: 'button',
                        class: 'tiny',
                        'aria-label': `Retry ${visible(code)}`,
                        onClick: () => retry(rollout, done, code),
                      },
                      'Retry',
                    )
                  : null,
            },
          ]
        : []),
    ],
  });
}

const seconds = (value: number | null): Child => (value === null ? nothing() : duration(value * 1000));

const times = ({ delivery, result }: RolloutDetails): VNode =>
  rowsTable({
    label: 'Times',
    rows: [
      { name: 'the delivery', ...delivery },
      { name: 'the result', ...result },
    ],
    keyOf: ({ name }) => name,
    columns: [
      { name: 'Time to', kind: 'lead', cell: ({ name }) => span({ class: 'nowrap' }, name) },
      { name: '50 %', kind: 'right', cell: ({ p50 }) => seconds(p50) },
      { name: '90 %', kind: 'right', cell: ({ p90 }) => seconds(p90) },
      { name: '99 %', kind: 'right', cell: ({ p99 }) => seconds(p99) },
    ],
  });

const history = (rollout: RolloutDetails): VNode =>
  rowsTable({
    label: 'History',
    rows: rollout.history.map((entry, index) => ({ ...entry, ...entryWords(entry), index })),
    keyOf: ({ index }) => rollout.history.length - index,
    columns: [
      { name: 'When', kind: 'short', cell: ({ at }) => moment(at) },
      {
        name: 'What',
        kind: 'lead',
        cell: ({ what, why, figures: then }) => [
          span(null, what),
          why === null ? null : small({ class: 'fault' }, why),
          then === null ? null : small(null, then),
        ],
      },
      { name: 'Who', cell: ({ who }) => span({ class: who.length <= SHORT_NAME ? 'nowrap' : '' }, who) },
    ],
  });

const rolloutLink = (rolloutId: string): VNode => a({ href: addressOf(['rollouts', rolloutId]) }, visible(rolloutId));

const details = (rollout: RolloutDetails): VNode =>
  dl(
    { class: 'facts' },
    fact('rolloutId', id(rollout.rolloutId)),
    ROLE === 'operator' ? fact('Application', named('applications', rollout.applicationId)) : null,
    fact('Created', moment(rollout.createdAt)),
    rollout.startedAt === null ? null : fact('Began', moment(rollout.startedAt)),
    rollout.endedAt === null ? null : fact('Ended', moment(rollout.endedAt)),
    fact(
      'Transactions',
      a({ href: addressOf(['transactions'], { rolloutId: rollout.rolloutId }) }, 'All its transactions'),
    ),
    rollout.reverts === undefined ? null : fact('Brings back', rolloutLink(rollout.reverts)),
    rollout.revertedBy === undefined ? null : fact('Reverted by', rolloutLink(rollout.revertedBy)),
    rulesWords(rollout.rules).map(([name, value]) => fact(name, value)),
  );

const shown = (rollout: RolloutDetails, again: () => void): Child => [
  notice(rollout, again),
  figures(rollout),
  card(
    {
      title: 'Progress',
      side: a(
        { class: 'small', href: addressOf(['rollouts', rollout.rolloutId, 'devices']) },
        `All ${counted(rollout.devices, 'device')}`,
      ),
    },
    div(
      { class: 'stack' },
      rolloutBar(rollout.counts, { inWork: rollout.inWork }),
      rolloutLegend(rollout.rolloutId, rollout.counts, rollout.inWork),
      stageList(rollout),
    ),
  ),
  resultsPlot(rollout),
  div(
    { class: 'wide-first' },
    div(
      { class: 'stack' },
      card(
        { title: 'Errors', bare: true },
        rollout.errors.length === 0
          ? p({ class: 'pad quiet' }, 'No device has failed or was refused.')
          : errorTable(rollout, again),
      ),
      card(
        {
          title: 'History',
          bare: true,
          side:
            ROLE === 'operator'
              ? a(
                  { class: 'small', href: addressOf(['audit'], { about: `rollout:${rollout.rolloutId}` }) },
                  'Who asked',
                )
              : span({ class: 'quiet small' }, 'newest first'),
        },
        history(rollout),
      ),
    ),
    div(
      { class: 'stack' },
      distanceCard(rollout),
      card(
        { title: 'Times', bare: true, side: span({ class: 'quiet small' }, 'so many were not slower') },
        times(rollout),
      ),
      card(
        { title: 'Which devices', bare: true },
        dl(
          { class: 'facts' },
          selectorWords(rollout.selector).map(([name, value]) => fact(name, value)),
        ),
      ),
      card({ title: 'Details and rules', bare: true }, details(rollout)),
    ),
  ),
];

function OneRollout({ rolloutId }: { rolloutId: string }) {
  const rollout = useLoad(rolloutId, (signal) =>
    read<RolloutDetails>(operation({ operator: 'readFleetRollout', application: 'readRollout' }, { rolloutId }), {
      query: { results: 'true' },
      signal,
    }),
  );
  const { value } = rollout.state.value;
  // A change is read as a whole: then all figures of the page are of one moment.
  useWatch(`rollouts:${rolloutId}`, rollout.again);
  useEvery(value?.state === 'running' ? READ_EVERY : undefined, rollout.again);
  return [
    head({
      title: value ? nameOf(value) : 'Rollout',
      trail: [[addressOf(['rollouts']), 'Rollouts']],
      state: value ? rolloutBadge(value) : null,
      about: value ? aboutRollout(value) : null,
      actions: value ? rolloutActions(value, rollout.again) : null,
    }),
    loaded(rollout, (known) => shown(known, rollout.again), { lines: 10 }),
  ];
}

export const rolloutPage = (rolloutId: string): VNode => use(OneRollout, { rolloutId, key: rolloutId });

import { a, button, type Child, div, dl, li, ol, p, small, span, use, type VNode } from '../base/elements.ts';
import { useEvery } from '../base/every.ts';
import { compact, count, counted, duration, visible } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, ROLE } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import {
  countsWords,
  entryWords,
  hasStoppedItself,
  nameOf,
  nextWhen,
  reasonWords,
  rulesWords,
  selectorWords,
  successPercent,
  waitsForApproval,
} from '../base/rollout-words.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { historyOf } from '../parts/changes.ts';
import { figure } from '../parts/figure.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { rolloutBar, rolloutLegend } from '../parts/rollout-bar.ts';
import { aboutRollout, rolloutBadge } from '../parts/rollout-rows.ts';
import { age, badge, bareId, card, fact, id, idLink, moment, nothing, until } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';
import { approve, mayApprove, mayRetry, retry, rolloutActions } from './rollout-actions.ts';
import { resultsPlot } from './rollout-plot.ts';

/** Milliseconds between two reads while the rollout is at work, and after its end. The feed does not report rollouts. */
const READ_EVERY = 2_000;
const READ_EVERY_AFTER = 30_000;

/** The most examples of devices beside an error; its link leads to all of them. */
const MOST_EXAMPLES = 2;

const isAtWork = ({ state }: RolloutDetails): boolean => state === 'running' || state === 'scheduled';

const percentOf = (part: number, all: number): string => (all === 0 ? '–' : `${Math.floor((part / all) * 100)} %`);

/** Says why the rollout does not go on, and who has to do something. */
function notice(rollout: RolloutDetails, done: () => void): Child {
  const { state, reason, history, stages, stage } = rollout;
  if (state === 'paused' && reason !== null) {
    const by = history.find(({ event }) => event === 'paused')?.by;
    const words =
      reason === 'REQUESTED' && by
        ? `${by === 'administration' ? 'The operator' : 'The application'} has paused it.`
        : reasonWords(reason);
    return div(
      { class: `note ${hasStoppedItself(rollout) ? 'bad' : 'warn'}`, role: 'status' },
      p(null, words, ' No further command is published until the application lets it go on.'),
    );
  }
  const present = stages[stage - 1];
  if (state !== 'running' || !present || !waitsForApproval(present) || stage === stages.length) return null;
  return div(
    { class: 'note warn row spread', role: 'status' },
    p(null, `Stage ${stage} has its successes. The next stage waits for an approval.`),
    mayApprove(rollout)
      ? button({ type: 'button', class: 'tiny', onClick: () => approve(rollout, done) }, 'Approve')
      : null,
  );
}

function figures({ rolloutId, counts, devices, resultsPerMinute, estimatedEnd, state, endedAt }: RolloutDetails) {
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
      note:
        estimatedEnd !== null
          ? ['ends ', until(estimatedEnd), ' at this speed']
          : endedAt !== null
            ? ['ended ', age(endedAt)]
            : state === 'running'
              ? 'not known yet'
              : state,
    }),
  );
}

const STAGE_TONES = { waiting: '', running: 'calm', over: 'good' } as const;

function stageRow({ stages, state: ofRollout }: RolloutDetails, index: number): VNode {
  const stage = stages[index]!;
  const { planned, state, counts, continueWhen, approval, approved } = stage;
  const reached = successPercent(counts);
  const wanted = continueWhen?.succeededPercent;
  const isLast = index === stages.length - 1;
  return li(
    { key: index, class: `is-${state}` },
    div(
      { class: 'row spread' },
      span(
        { class: 'row' },
        span({ class: 'name' }, `Stage ${index + 1}`),
        state === 'running' && ofRollout === 'paused'
          ? badge('warn', 'paused')
          : badge(STAGE_TONES[state], state === 'waiting' ? 'not begun' : state),
        approval && !isLast
          ? badge(
              approved ? 'good' : 'warn',
              approved ? 'approved' : state === 'waiting' ? 'needs approval' : 'not approved',
            )
          : null,
      ),
      span(
        { class: 'num soft' },
        counted(planned, 'device'),
        state === 'waiting' || reached === null ? null : ` · ${reached} % succeeded`,
        state === 'waiting' || isLast || wanted === undefined ? null : ` of ${wanted} % wanted`,
      ),
    ),
    rolloutBar(counts, isLast ? {} : { wanted }),
    p(
      { class: 'small quiet' },
      state === 'waiting' ? null : `${countsWords(counts)}. `,
      isLast ? (state === 'over' ? null : 'The last stage.') : state === 'over' ? null : nextWhen(stage),
    ),
  );
}

function errorTable(rollout: RolloutDetails, done: () => void): VNode {
  const { rolloutId, errors } = rollout;
  const hasRetry = mayRetry(rollout) && errors.some(({ state }) => state === 'failed');
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

const seconds = (value: number | null): Child =>
  value === null ? nothing() : span({ class: 'nowrap' }, duration(value * 1000));

const times = ({ delivery, result }: RolloutDetails): VNode =>
  rowsTable({
    label: 'Times',
    rows: [
      { name: 'the delivery', ...delivery },
      { name: 'the result', ...result },
    ],
    keyOf: ({ name }) => name,
    columns: [
      { name: 'Time to', kind: 'lead', cell: ({ name }) => name },
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
        cell: ({ what, why }) => [span(null, what), why === null ? null : small({ class: 'fault' }, why)],
      },
      { name: 'Who', cell: ({ who }) => who },
    ],
  });

const details = (rollout: RolloutDetails): VNode =>
  dl(
    { class: 'facts' },
    fact('rolloutId', id(rollout.rolloutId)),
    ROLE === 'operator'
      ? fact('Application', idLink(addressOf(['applications', rollout.applicationId]), rollout.applicationId))
      : null,
    fact('Created', moment(rollout.createdAt)),
    rollout.startedAt === null ? null : fact('Began', moment(rollout.startedAt)),
    rollout.endedAt === null ? null : fact('Ended', moment(rollout.endedAt)),
    fact(
      'Transactions',
      a({ href: addressOf(['transactions'], { rolloutId: rollout.rolloutId }) }, 'All its transactions'),
    ),
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
      rolloutBar(rollout.counts),
      rolloutLegend(rollout.rolloutId, rollout.counts),
      ol(
        { class: 'rollout-stages', 'aria-label': 'Stages' },
        rollout.stages.map((_, index) => stageRow(rollout, index)),
      ),
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
      card({ title: 'History', bare: true, side: span({ class: 'quiet small' }, 'newest first') }, history(rollout)),
      ROLE === 'operator' ? historyOf('rollout', rollout.rolloutId) : null,
    ),
    div(
      { class: 'stack' },
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
      signal,
    }),
  );
  const { value } = rollout.state.value;
  useEvery(value === undefined || isAtWork(value) ? READ_EVERY : READ_EVERY_AFTER, rollout.again);
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

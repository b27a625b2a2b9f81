import { button, type Child, p } from '../base/elements.ts';
import { count, counted, visible } from '../base/format.ts';
import { ROLE } from '../base/place.ts';
import { operation, readSeen, send } from '../base/requests.ts';
import { reasonWords } from '../base/rollout-words.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { mayChange } from '../base/session.ts';
import { given, typed } from '../base/typed.ts';
import { askForChange } from '../parts/change.ts';
import { act, ask } from '../parts/dialog.ts';
import { choice } from '../parts/fields.ts';
import { abortFields, group, labelField, paceField, readRules, windowFields } from '../parts/rollout-fields.ts';

const isIn = ({ state }: RolloutDetails, ...states: RolloutDetails['state'][]): boolean => states.includes(state);

function pause({ rolloutId }: RolloutDetails, done: () => void): void {
  ask({
    title: 'Pause the rollout?',
    text: `No further command is published. What was not delivered is taken back, and is sent again when the rollout goes on. What was delivered goes on, and its result still counts.${ROLE === 'operator' ? ' Only the application can let the rollout go on.' : ''}`,
    does: 'Pause',
    async act() {
      await send(operation({ operator: 'pauseFleetRollout', application: 'pauseRollout' }, { rolloutId }));
      done();
      return 'The rollout is paused.';
    },
  });
}

function resume({ rolloutId, reason, counts }: RolloutDetails, done: () => void): void {
  const failures =
    counts.failed === 0
      ? 'No device has failed so far.'
      : `You accept the ${counted(counts.failed, 'failure')} so far: the abort rule counts anew from here.`;
  const stage =
    reason === 'STAGE_FAILED'
      ? ' The stage is let pass, although too few of its devices have succeeded, unless its failed devices try again.'
      : '';
  ask({
    title: 'Let the rollout go on?',
    text: [
      reason === null || reason === 'REQUESTED' ? null : p(null, reasonWords(reason)),
      p({ class: 'soft' }, failures, stage),
    ],
    does: 'Let it go on',
    async act() {
      await send(operation('resumeRollout', { rolloutId }));
      done();
      return 'The rollout goes on.';
    },
  });
}

/** Asks for the approval of the present stage. */
export function approve({ rolloutId, stage }: RolloutDetails, done: () => void): void {
  ask({
    title: `Approve stage ${stage}?`,
    text: 'The next stage begins when this one has its share of successes.',
    does: 'Approve',
    async act() {
      // Named, so that a repetition never approves a stage that nobody has seen.
      await send(operation('approveRollout', { rolloutId }), { json: { stage } });
      done();
      return `Stage ${stage} is approved.`;
    },
  });
}

/** Lets failed devices have another command; `chosen`: the code of those that are meant at first. */
export function retry({ rolloutId, counts, errors }: RolloutDetails, done: () => void, chosen = ''): void {
  const codes = errors
    .filter(({ state }) => state === 'failed')
    .map(({ code, devices }) => [code, `only ${visible(code)} (${count(devices)})`] as const);
  ask({
    title: 'Let failed devices try again?',
    text: 'They wait for another command, and are no results until they answer it: the abort rule counts their next failures. A completed rollout runs again.',
    fields: choice({ name: 'code', label: 'Devices', value: chosen }, [
      ['', `all that failed (${count(counts.failed)})`],
      ...codes,
    ]),
    does: 'Try again',
    async act(data) {
      // Not trimmed: a code is whatever the device has sent.
      const code = data.get('code') as string;
      const answer = await send(operation('retryRollout', { rolloutId }), { json: code === '' ? {} : { code } });
      const { devices } = (await answer.json()) as { devices: number };
      done();
      return `${counted(devices, 'device')} ${devices === 1 ? 'waits' : 'wait'} for another command.`;
    },
  });
}

/** Asks for other rules, and sends those that are different from the ones that are shown first. */
function change({ rolloutId }: RolloutDetails, done: () => void): void {
  const readNow = () => readSeen<RolloutDetails>(operation('readRollout', { rolloutId }));
  act(async () => {
    const seen = await readNow();
    const { label, rules } = seen.value;
    askForChange<RolloutDetails>({
      title: 'Change the rules',
      text: 'They hold from the moment at which the rollout goes on.',
      seen,
      fields: () => [
        labelField(label),
        paceField(rules),
        group('Abort rule', abortFields(rules)),
        group('Window', windowFields(rules)),
      ],
      does: 'Change',
      async send(data, { tag }) {
        const wanted: Record<string, unknown> = {
          label: typed(data, 'label') ?? null,
          ratePerMinute: null,
          abort: null,
          window: null,
          ...readRules(data, rules.abort?.codes),
        };
        const before: Record<string, unknown> = { label, ...rules };
        const isNew = (name: string): boolean => JSON.stringify(wanted[name]) !== JSON.stringify(before[name] ?? null);
        const json = given(
          Object.fromEntries(Object.keys(wanted).map((name) => [name, isNew(name) ? wanted[name] : undefined])),
        );
        if (Object.keys(json).length === 0) return false;
        await send(operation('updateRollout', { rolloutId }), { json, ifMatch: tag });
        done();
        return true;
      },
      read: readNow,
      shown: (rollout) => ({
        Label: rollout.label,
        'Commands a minute': rollout.rules.ratePerMinute ?? null,
        'Abort rule': rollout.rules.abort ? JSON.stringify(rollout.rules.abort) : null,
        Window: rollout.rules.window ? JSON.stringify(rollout.rules.window) : null,
      }),
      done: () => 'The rules were changed.',
    });
    return undefined;
  });
}

function cancel({ rolloutId, counts }: RolloutDetails, done: () => void): void {
  ask({
    title: 'Cancel the rollout?',
    text: `It cannot go on afterwards. ${counted(counts.waiting, 'device')} will get no command, and ${counted(counts.unfinished, 'unfinished transaction')} will be cancelled.`,
    does: 'Cancel the rollout',
    isBad: true,
    async act() {
      await send(operation({ operator: 'cancelFleetRollout', application: 'cancelRollout' }, { rolloutId }));
      done();
      return 'The rollout is cancelled.';
    },
  });
}

/** Whether the application may approve the present stage now. */
export const mayApprove = (rollout: RolloutDetails): boolean => {
  const stage = rollout.stages[rollout.stage - 1];
  return (
    ROLE === 'application' &&
    mayChange('device') &&
    isIn(rollout, 'running', 'paused') &&
    stage?.approval === true &&
    !stage.approved
  );
};

/** Whether failed devices may be let try again now. */
export const mayRetry = (rollout: RolloutDetails): boolean =>
  ROLE === 'application' &&
  mayChange('device') &&
  isIn(rollout, 'running', 'paused', 'completed') &&
  rollout.counts.failed > 0;

/** The buttons for a rollout: those that its state and the rights of the user allow. */
export function rolloutActions(rollout: RolloutDetails, done: () => void): Child {
  const isOwn = ROLE === 'application' && mayChange('device');
  const one = (words: string, act: typeof pause, isWanted: boolean, looks = ''): Child =>
    isWanted ? button({ type: 'button', class: looks, onClick: () => act(rollout, done) }, words) : null;
  return [
    one('Resume', resume, isOwn && isIn(rollout, 'paused'), 'main'),
    one('Approve', approve, mayApprove(rollout), isIn(rollout, 'running') ? 'main' : ''),
    one('Pause', pause, mayChange('device', 'pauseFleetRollout') && isIn(rollout, 'scheduled', 'running')),
    one('Retry failed', retry, mayRetry(rollout)),
    one('Change rules', change, isOwn && isIn(rollout, 'scheduled', 'paused')),
    one(
      'Cancel',
      cancel,
      mayChange('device', 'cancelFleetRollout') && isIn(rollout, 'scheduled', 'running', 'paused'),
      'bad',
    ),
  ];
}

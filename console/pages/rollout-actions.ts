import { isReleaseBad } from '@lapel/schemas/base/rollouts';
import { button, type Child } from '../base/elements.ts';
import { count, counted, visible } from '../base/format.ts';
import { ROLE } from '../base/place.ts';
import { operation, readSeen, send } from '../base/requests.ts';
import { rateWords, waitsForApproval } from '../base/rollout-words.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { given, typed } from '../base/typed.ts';
import { askForChange } from '../parts/change.ts';
import { act, ask } from '../parts/dialog.ts';
import { choice } from '../parts/fields.ts';
import { placesField } from '../parts/places-field.ts';
import { abortFields, group, labelField, paceField, readRules, windowFields } from '../parts/rollout-fields.ts';
import { approve, resume } from './rollout-decisions.ts';
import { mayOrder, type Order } from './rollout-orders.ts';
import { revert } from './rollout-revert.ts';

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
        placesField(rules),
        group('Abort rule', abortFields(rules)),
        group('Window', windowFields(rules)),
      ],
      does: 'Change',
      async send(data, { tag }) {
        const wanted: Record<string, unknown> = {
          label: typed(data, 'label') ?? null,
          ratePerMinute: typeof rules.ratePerMinute === 'object' ? rules.ratePerMinute : null,
          maxUnfinished: null,
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
        'Commands a minute': rollout.rules.ratePerMinute === undefined ? null : rateWords(rollout.rules.ratePerMinute),
        'Devices at a time': rollout.rules.maxUnfinished ?? null,
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

/** Whether the first advice is to bring the devices of a rollout back. */
const isRevertFirst = (rollout: RolloutDetails): boolean => mayOrder(rollout, 'revert') && isReleaseBad(rollout);

/** Whether the first advice is to look at the figures of a stage, and to approve them. */
const isApprovalFirst = ({ state, stages, stage }: RolloutDetails): boolean => {
  const present = stages[stage - 1];
  return state === 'running' && present !== undefined && waitsForApproval(present);
};

/** The buttons for a rollout: those that the service permits, and the rights of the user allow. */
export function rolloutActions(rollout: RolloutDetails, done: () => void): Child {
  const one = (words: string, act: typeof pause, order: Order, looks = ''): Child =>
    mayOrder(rollout, order)
      ? button({ type: 'button', class: looks, onClick: () => act(rollout, done) }, words)
      : null;
  return [
    one('Revert', revert, 'revert', isRevertFirst(rollout) ? 'main' : ''),
    one('Resume', resume, 'resume', isRevertFirst(rollout) ? '' : 'main'),
    one('Approve', approve, 'approve', isApprovalFirst(rollout) ? 'main' : ''),
    one('Pause', pause, 'pause'),
    one('Retry failed', retry, 'retry'),
    one('Change rules', change, 'change'),
    one('Cancel', cancel, 'cancel', 'bad'),
  ];
}

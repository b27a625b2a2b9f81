import { VERSION_OPERATIONS } from '@lapel/schemas/base/rollouts';
import { counted } from '../base/format.ts';
import { createKeys } from '../base/request-key.ts';
import { operation, send } from '../base/requests.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { given, numberOf, typed } from '../base/typed.ts';
import { ask } from '../parts/dialog.ts';
import { textField, tick } from '../parts/fields.ts';
import { REVERT_AFTER, revertField } from '../parts/revert-field.ts';

/** The answer in words: the number of devices, and of those that cannot be brought back. */
function answerWords({ devices, leftOut }: { devices: number; leftOut: readonly { devices: number }[] }): string {
  const out = leftOut.reduce((sum, one) => sum + one.devices, 0);
  const words = `A rollout brings ${counted(devices - out, 'device')} back.`;
  return out === 0 ? words : `${words} ${counted(out, 'device')} cannot be brought back.`;
}

/** Asks for a revert of a rollout, and makes it. */
export function revert({ rolloutId, operation: of, counts, state, rules }: RolloutDetails, done: () => void): void {
  const isOfVersion = VERSION_OPERATIONS.includes(of);
  const stops = ['running', 'paused'].includes(state) ? ' This rollout is cancelled.' : '';
  const keyOf = createKeys();
  ask({
    title: 'Bring the devices back?',
    text: isOfVersion
      ? `The devices that have its version, or may have it, get another one.${stops}`
      : `The devices that have its settings, or may have them, get back those that they took before.${stops}`,
    fields: [
      isOfVersion
        ? textField({
            name: 'version',
            label: 'Version',
            ...(of === 'installSoftware'
              ? { hint: 'By default the one that was registered as its way back.' }
              : { required: true }),
          })
        : null,
      revertField(of, rules),
      counts.failed > 0 ? tick({ name: 'failed', label: 'also devices that answered that it had failed' }) : null,
    ],
    does: 'Revert',
    isBad: true,
    async act(data) {
      const version = typed(data, 'version');
      const revertAfter = numberOf(data, REVERT_AFTER);
      const json = given({ version, revertAfter, failed: data.has('failed') ? true : undefined });
      const answer = await send(operation('revertRollout', { rolloutId }), {
        json,
        idempotencyKey: keyOf(json),
      });
      const words = answerWords((await answer.json()) as Parameters<typeof answerWords>[0]);
      done();
      return words;
    },
  });
}

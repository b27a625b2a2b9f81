import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import { EXPIRY_OPTIONS, REVERT_OPTION, readRevertAfter, readTerms } from '../device/terms-options.ts';
import type { Command } from '../line/command.ts';
import { readWhole } from '../line/command-line.ts';

const ROLLOUT = 'rol_0193480f3a5b00112233445566778899';

const WHY: Readonly<Record<string, string>> = {
  FORMER_UNKNOWN: 'its former settings are not known',
  SUPERSEDED: 'it got a later command in its place',
  DEVICE_NOT_ACTIVATED: 'it is not activated any more',
};

type DryRun = SchemaTypes['rest/rollout-revert-dry-run'];

const counted = (devices: number): string => `${devices} ${devices === 1 ? 'device' : 'devices'}`;

type Found = Pick<DryRun, 'devices' | 'leftOut'>;

const leftOutText = ({ leftOut }: Found): string =>
  leftOut
    .map(({ code, devices }) => `${counted(devices)} cannot be brought back: ${WHY[code] ?? code} (${code})\n`)
    .join('');
const broughtBack = ({ devices, leftOut }: Found): number =>
  leftOut.reduce((rest, stuck) => rest - stuck.devices, devices);

function dryRunText(rolloutId: string, found: DryRun): string {
  const to = found.version === null ? 'their former settings' : found.version;
  return [
    `${counted(broughtBack(found))} of ${rolloutId} would be brought back to ${to}, ${found.connected} of them connected\n`,
    `stages of ${found.stages.join(', ')} devices\n`,
    ...(found.cancels ? [`${rolloutId} is at work, and would be cancelled\n`] : []),
    leftOutText(found),
  ].join('');
}

export const rolloutRevert: Command = {
  name: 'rollout revert',
  arguments: [{ name: 'ROLLOUT' }],
  summary: 'Stops a rollout and brings its devices back to what they had before it',
  options: {
    failed: { text: 'also devices that answered that the command had failed' },
    version: { value: 'VERSION', text: 'the version that they get; firmware needs it' },
    label: { value: 'TEXT', text: 'a name for people' },
    rate: { value: 'N', text: 'the most commands in a minute; by default as before' },
    'dry-run': { text: 'only say what the revert would be' },
    ...EXPIRY_OPTIONS,
    ...REVERT_OPTION,
    ...APPLICATION_OPTIONS,
  },
  examples: [`lapel rollout revert ${ROLLOUT} --dry-run`, `lapel rollout revert ${ROLLOUT} --version 1.2.9 --failed`],
  async run(given, terminal) {
    const [rolloutId = ''] = given.positionals;
    const [version, label, rate] = [given.text('version'), given.text('label'), given.text('rate')];
    const { supersede: _, ...terms } = readTerms(given);
    const body = {
      ...(given.flag('failed') && { failed: true }),
      ...(version !== undefined && { version }),
      ...(label !== undefined && { label }),
      ...(rate !== undefined && { ratePerMinute: readWhole('rate', rate) }),
      ...terms,
      ...readRevertAfter(given),
    };
    const application = await openApplication(given, terminal);
    if (given.flag('dry-run')) {
      // The type of the answer is that of a rollout that was made.
      const found = (await application.call('ask what the revert would be', (lapel) =>
        lapel.revertRollout({ rolloutId, body: { ...body, dryRun: true } }),
      )) as object as DryRun;
      return { json: { ok: true, reverts: rolloutId, ...found }, text: dryRunText(rolloutId, found) };
    }
    const made = await application.call('revert the rollout', (lapel) => lapel.revertRollout({ rolloutId, body }));
    return {
      json: { ok: true, reverts: rolloutId, ...made },
      text: `${made.rolloutId} brings ${counted(broughtBack(made))} of ${rolloutId} back\n${leftOutText(made)}`,
    };
  },
};

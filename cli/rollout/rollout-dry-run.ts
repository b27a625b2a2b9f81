import type { Operations } from '@lapel/client/operations';
import type { RolloutDryRun } from '@lapel/schemas/contracts/types';
import type { Application } from '../account/access.ts';
import type { Outcome } from '../line/command.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import type { Terminal } from '../show/terminal.ts';

type Body = Operations['startRollout']['input']['body'];

const MOST_VERSIONS = 10;

const devicesText = (devices: number): string => `${devices} ${devices === 1 ? 'device' : 'devices'}`;

/** Asks what a rollout would be. Throws a Failure. */
const askFor = (application: Application, body: Body): Promise<RolloutDryRun> =>
  application.call(
    'ask what the rollout would be',
    // The type of the answer is that of a rollout that was started.
    async (lapel) => (await lapel.startRollout({ body: { ...body, dryRun: true } })) as object as RolloutDryRun,
  );

function versionLines(title: string, all: RolloutDryRun['firmwareVersions'], none: string): string[] {
  if (all.length === 0) return [];
  const shown = all.slice(0, MOST_VERSIONS);
  const rest = all.slice(MOST_VERSIONS).reduce((sum, { devices }) => sum + devices, 0);
  return [
    title,
    ...shown.map(({ version, devices }) => oneLine(`  ${version ?? none}: ${devicesText(devices)}`)),
    ...(rest === 0 ? [] : [`  others: ${devicesText(rest)}`]),
  ];
}

/** The findings of a dry run, as lines. */
export function dryRunLines(found: RolloutDryRun): string[] {
  const { devices, connected, stages, maxUnfinished, estimate, versions = [], firmwareVersions, warnings } = found;
  const about = estimate ? ' (about)' : '';
  return [
    `${devicesText(devices)}, ${connected} of them connected`,
    `stages of ${stages.join(', ')} devices`,
    ...(maxUnfinished === undefined ? [] : [`at most ${devicesText(maxUnfinished)} at a time`]),
    ...versionLines(`versions now${about}`, versions, 'not installed'),
    ...versionLines(`firmware now${about}`, firmwareVersions, 'not reported'),
    ...warnings.map(({ message }) => oneLine(`warning: ${message}`)),
  ];
}

/** The outcome of `--dry-run`; the exit code is 1 if no device matches. */
export async function dryRun(application: Application, body: Body): Promise<Outcome> {
  const found = await askFor(application, body);
  const isNobody = found.devices === 0 && !body.continuous;
  return {
    json: { ok: !isNobody, ...found },
    text: `${dryRunLines(found).join('\n')}\n`,
    ...(isNobody && { problem: 'no device matches' }),
  };
}

/** Asks for the number of devices of a rollout that nobody has limited. Throws a Failure. */
export async function askForNumber(
  application: Application,
  body: Body,
  { ask, stderr }: Pick<Terminal, 'ask' | 'stderr'>,
): Promise<void> {
  const found = await askFor(application, body);
  stderr.write(`${dryRunLines(found).join('\n')}\n`);
  const wanted = String(found.devices);
  const answer = await ask?.(`Start it for ${devicesText(found.devices)}. Type ${wanted} to confirm: `, {
    hidden: false,
  });
  if (answer?.trim() !== wanted) throw new Failure('nothing was started: the number was not confirmed');
}

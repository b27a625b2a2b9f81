import { APPLICATION_OPTIONS, type Application, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import type { Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import type { Terminal } from '../show/terminal.ts';
import { abortNote } from './abort-note.ts';
import { BODY_OPTIONS, type Body, readBody } from './rollout-body.ts';
import { askForNumber, dryRun } from './rollout-dry-run.ts';
import { OPERATION_OPTIONS, OPERATIONS_IN_WORDS, readOperation } from './rollout-operation.ts';
import { outcomeOf, readTimeout, TIMEOUT_OPTION } from './rollout-watch.ts';

const { file, ...others } = BODY_OPTIONS;
const OPTIONS = {
  file,
  ...OPERATION_OPTIONS,
  ...others,
  'dry-run': { text: 'only say what the rollout would be: devices, stages, versions, other rollouts, warnings' },
  wait: { text: 'follow the rollout until it completes, is paused, or is cancelled' },
  timeout: { ...TIMEOUT_OPTION.timeout, text: `--wait, but ${TIMEOUT_OPTION.timeout.text}` },
} satisfies Options;

/** Says when the abort rule cannot act. The rollout has begun, so nothing fails when it cannot be read. */
async function tellAbortNote(application: Application, rolloutId: string, { stderr }: Terminal): Promise<void> {
  const note = await application
    .call('read the rollout', async (lapel) => abortNote(await lapel.readRollout({ rolloutId })))
    .catch(() => null);
  if (note !== null) stderr.write(`${note}\n`);
}

export const rolloutStart: Command = {
  name: 'rollout start',
  summary: 'Starts a rollout: one operation for many devices, in stages',
  about: `Say which devices it is for: with options that select them, or --all. Without them a terminal asks for the number of
devices. If none matches, the exit code is 1, also of --dry-run, which starts nothing. A file can
hold the whole rollout: the body of POST /v1/applications/{applicationId}/rollouts. In a file, each stage can have rules
of its own.

The request is repeated after a lost connection, with one Idempotency-Key, so that there is never a second rollout.`,
  options: { ...OPTIONS, ...APPLICATION_OPTIONS },
  examples: [
    'lapel rollout start --install com.example.camera@1.3.0 --all --stage 5% --succeeded 95 --soak 1h --abort 10 --after 20',
    'lapel rollout start --install com.example.camera@1.3.0 --tag ring=canary --dry-run',
    'lapel rollout start --language ja-JP --tag site=osaka --rate 60 --wait',
    'lapel rollout start --wifi nets.json --all --window 22:00-05:00 --time-zone Asia/Tokyo --retry NO_ANSWER --attempts 3',
    'lapel rollout start --firmware com.lapel.firmware@9.2.0 --all --start-at 2026-11-20T22:00:00Z --prefer-connected',
    'lapel rollout start --file release.json --label "Camera 1.3.0" --timeout 3600',
  ],
  endsItself: true,
  async run(given, terminal) {
    const timeout = readTimeout(given);
    const waits = given.flag('wait') || timeout !== null;
    const { dryRun: _, ...read } = await readBody(given, await readOperation(given, terminal), terminal);
    if (read.operation === undefined)
      throw new UsageError('--install', `is needed; it is one of ${OPERATIONS_IN_WORDS}, or --file`);
    const body = { devices: {}, ...read } as Body;
    const isUnlimited = read.devices === undefined && !given.flag('dry-run');
    if (isUnlimited && !terminal.ask)
      throw new UsageError(
        '--all',
        'is needed to start it for the whole fleet; or select devices, such as --tag ring=canary',
      );
    if (waits && timeout === null && body.continuous)
      throw new UsageError('--wait', 'a continuous rollout never completes; give --timeout as well');
    const application = await openApplication(given, terminal);
    if (given.flag('dry-run')) return dryRun(application, body);
    if (isUnlimited) await askForNumber(application, body, terminal);
    const { rolloutId, devices, warnings } = await application.call('start the rollout', (lapel) =>
      lapel.startRollout({ body }),
    );
    if (devices === 0 && !body.continuous) {
      const failure = new Failure(`no device matches, so rollout ${rolloutId} has nothing to do`, {
        advice: ['lapel device list with the same options shows which devices match'],
      });
      failure.done = { rolloutId, devices };
      throw failure;
    }
    for (const { code, message } of warnings)
      if (code !== 'ABORT_RULE_OUT_OF_REACH') terminal.stderr.write(`${oneLine(message)}\n`);
    if (body.abort) await tellAbortNote(application, rolloutId, terminal);
    const text = `${rolloutId} for ${devices} ${devices === 1 ? 'device' : 'devices'}\n`;
    if (!waits) return { json: { ok: true, rolloutId, devices, warnings }, text };
    terminal.stderr.write(text);
    return outcomeOf({ application, rolloutId, timeout }, terminal);
  },
};

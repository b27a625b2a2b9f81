import type { Operations } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, type Application, openApplication } from '../account/access.ts';
import { readTime } from '../device/duration.ts';
import { DEVICES_OPTIONS, readSelector } from '../device/selector-options.ts';
import { REVERT_OPTION, readRevertAfter, readTerms, TERMS_OPTIONS } from '../device/terms-options.ts';
import type { Command } from '../line/command.ts';
import { type Given, readWhole } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { readJson } from '../line/read-json.ts';
import { UsageError } from '../line/usage-error.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import type { Terminal } from '../show/terminal.ts';
import { abortNote } from './abort-note.ts';
import { HEALTH_OPTIONS, readHealth } from './health-options.ts';
import { askForNumber, dryRun } from './rollout-dry-run.ts';
import { OPERATION_OPTIONS, OPERATIONS_IN_WORDS, readOperation } from './rollout-operation.ts';
import { CONFIRM_OPTIONS, RETRY_OPTIONS, RULE_OPTIONS, readConfirm, readRetry, readRules } from './rollout-rules.ts';
import { outcomeOf, readTimeout, TIMEOUT_OPTION } from './rollout-watch.ts';

type Body = Operations['startRollout']['input']['body'];

const OPTIONS = {
  file: {
    value: 'FILE',
    file: true,
    text: 'file with the rollout as JSON, as in the REST API (- is standard input); other options replace its members',
  },
  ...OPERATION_OPTIONS,
  ...DEVICES_OPTIONS,
  all: {
    text: 'for all activated devices; without this, or options that select devices, it asks for their number on a terminal, and does not start elsewhere',
  },
  'prefer-connected': { text: 'of the devices of a stage, connected ones come first' },
  continuous: { text: 'devices that begin to match later join; the rollout ends only when it is cancelled' },
  'start-at': {
    value: 'TIME',
    text: 'when the first stage begins, in UTC, as 2026-11-20T22:00:00Z; by default at once',
  },
  stage: {
    value: 'SIZE',
    many: true,
    text: 'a stage: 10% of the devices, or a number of them; may be repeated; the rest makes a last one',
  },
  succeeded: { value: 'PERCENT', text: 'the next stage begins when this share of the stage has succeeded (95)' },
  soak: { value: 'DURATION', text: 'and after this time more: 90s, 30m, 2h, 7d; needs --succeeded' },
  results: {
    value: 'N',
    text: 'and not before so many results (half of the stage, at most 20); needs --succeeded',
  },
  approval: { text: 'each stage waits for lapel rollout approve before the next one' },
  'approval-by-other': { text: '--approval, by a person who has neither started the rollout nor changed it last' },
  ...RULE_OPTIONS,
  ...CONFIRM_OPTIONS,
  ...HEALTH_OPTIONS,
  'auto-revert': { text: 'bring the devices back when a health rule stops the rollout; needs --health' },
  ...RETRY_OPTIONS,
  ...TERMS_OPTIONS,
  ...REVERT_OPTION,
  'dry-run': { text: 'only say what the rollout would be: devices, stages, versions, other rollouts, warnings' },
  wait: { text: 'follow the rollout until it completes, is paused, or is cancelled' },
  timeout: { ...TIMEOUT_OPTION.timeout, text: `--wait, but ${TIMEOUT_OPTION.timeout.text}` },
} satisfies Options;

/** The devices that the options select; nothing when the file must select them. */
function devicesOf(given: Given): Partial<Body> {
  const selector = readSelector(given);
  const isAll = Object.keys(selector).length === 0;
  if (!isAll && given.flag('all')) throw new UsageError('--all', 'selects all devices; leave out the other options');
  return isAll && !given.flag('all') ? {} : { devices: selector };
}

function stagesOf(given: Given): Partial<Body> {
  const [succeeded, soak] = [given.text('succeeded'), given.text('soak')];
  const results = given.text('results');
  if (soak !== undefined && succeeded === undefined) throw new UsageError('--soak', 'needs --succeeded');
  if (results !== undefined && succeeded === undefined) throw new UsageError('--results', 'needs --succeeded');
  const rules = {
    ...(succeeded !== undefined && {
      continueWhen: {
        succeededPercent: readWhole('succeeded', succeeded),
        ...(soak !== undefined && { soakFor: readTime('soak', soak) }),
        ...(results !== undefined && { minimumResults: readWhole('results', results) }),
      },
    }),
    ...(given.flag('approval') && { approval: true }),
    ...(given.flag('approval-by-other') && { approval: { by: 'other' as const } }),
  };
  const stages = given.list('stage').map((size) => {
    const isShare = size.endsWith('%');
    const number = readWhole('stage', isShare ? size.slice(0, -1) : size);
    return { ...(isShare ? { percent: number } : { count: number }), ...rules };
  });
  if (stages.length === 0 && Object.keys(rules).length > 0) throw new UsageError('--stage', 'is needed');
  return stages.length === 0 ? {} : { stages };
}

function readAutoRevert(given: Given): Partial<Body> {
  if (!given.flag('auto-revert')) return {};
  if (given.list('health').length === 0) throw new UsageError('--auto-revert', 'needs --health');
  return { revert: 'automatic' };
}

function termsOf(given: Given): Partial<Body> {
  const { supersede, ...terms } = readTerms(given);
  return { ...terms, ...(supersede !== undefined && { supersede: true }), ...readRevertAfter(given) };
}

async function bodyOf(given: Given, terminal: Terminal): Promise<Partial<Body>> {
  const startAt = given.text('start-at');
  const operation = await readOperation(given, terminal);
  const options = {
    ...operation,
    ...readConfirm(given, operation?.operation),
    ...readHealth(given),
    ...readAutoRevert(given),
    ...devicesOf(given),
    ...stagesOf(given),
    ...readRules(given),
    ...readRetry(given),
    ...termsOf(given),
    ...(startAt !== undefined && { startAt }),
    ...(given.flag('prefer-connected') && { preferConnected: true }),
    ...(given.flag('continuous') && { continuous: true }),
  };
  const file = given.text('file');
  const read = file === undefined ? {} : await readJson('--file', file, terminal);
  const body = { ...(read as object), ...options };
  if (!('operation' in body))
    throw new UsageError('--install', `is needed; it is one of ${OPERATIONS_IN_WORDS}, or --file`);
  return body as Partial<Body>;
}

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
    const { dryRun: _, ...read } = await bodyOf(given, terminal);
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

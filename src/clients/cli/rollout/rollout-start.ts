import type { Operations } from '../../client/operations.ts';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import { DEVICES_OPTIONS, readSelector } from '../device/selector-options.ts';
import { EXPIRY_OPTIONS, readTerms } from '../device/terms-options.ts';
import type { Command } from '../line/command.ts';
import { type Given, readWhole } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { readJson } from '../line/read-json.ts';
import { UsageError } from '../line/usage-error.ts';
import type { Terminal } from '../show/terminal.ts';
import { outcomeOf } from './rollout-watch.ts';

type Body = Operations['startRollout']['input']['body'];

const OPTIONS = {
  file: {
    value: 'FILE',
    file: true,
    text: 'file with the rollout as JSON, as in the REST API (- is standard input); other options replace its members',
  },
  install: { value: 'PACKAGE@VERSION', text: 'install this version of a package' },
  firmware: { value: 'PACKAGE@VERSION', text: 'update the firmware to this version' },
  language: { value: 'TAG', text: 'set this language, such as ja-JP' },
  ...DEVICES_OPTIONS,
  stage: {
    value: 'SIZE',
    many: true,
    text: 'a stage: 10% of the devices, or a number of them; may be repeated; the rest makes a last one',
  },
  succeeded: { value: 'PERCENT', text: 'the next stage begins when this share of the stage has succeeded' },
  soak: { value: 'SECONDS', text: 'and after so many seconds more; needs --succeeded' },
  approval: { text: 'each stage waits for lapel rollout approve before the next one' },
  rate: { value: 'N', text: 'make at most N commands a minute' },
  abort: { value: 'PERCENT', text: 'pause the rollout when this share of the results are failures' },
  after: { value: 'N', text: 'not before so many results (10); needs --abort' },
  label: { value: 'TEXT', text: 'a name for people' },
  ...EXPIRY_OPTIONS,
  wait: { text: 'follow the rollout until it completes, is paused, or is cancelled' },
} satisfies Options;

const DEFAULT_MINIMUM = 10;

/** Reads PACKAGE@VERSION. Throws a UsageError. */
function readVersion(option: string, text: string): { package: string; version: string } {
  const [name, version, ...more] = text.split('@');
  if (!name || !version || more.length > 0) throw new UsageError(`--${option}`, `"${text}" is not PACKAGE@VERSION`);
  return { package: name, version };
}

function operationOf(given: Given): Partial<Body> {
  const [install, firmware, lang] = [given.text('install'), given.text('firmware'), given.text('language')];
  if ([install, firmware, lang].filter((one) => one !== undefined).length > 1)
    throw new UsageError('--install', 'give only one of --install, --firmware and --language');
  if (install !== undefined) return { operation: 'installSoftware', parameters: readVersion('install', install) };
  if (firmware !== undefined) return { operation: 'updateFirmware', parameters: readVersion('firmware', firmware) };
  return lang === undefined ? {} : { operation: 'setLanguage', parameters: { lang } };
}

/** The devices that the options select; nothing when the file selects them, or all are wanted. */
function devicesOf(given: Given): Partial<Body> {
  const selector = readSelector(given);
  return Object.keys(selector).length === 0 ? {} : { devices: selector };
}

function stagesOf(given: Given): Partial<Body> {
  const [succeeded, soak] = [given.text('succeeded'), given.text('soak')];
  if (soak !== undefined && succeeded === undefined) throw new UsageError('--soak', 'needs --succeeded');
  const rules = {
    ...(succeeded !== undefined && {
      continueWhen: {
        succeededPercent: readWhole('succeeded', succeeded),
        ...(soak !== undefined && { soakFor: readWhole('soak', soak) }),
      },
    }),
    ...(given.flag('approval') && { approval: true }),
  };
  const stages = given.list('stage').map((size) => {
    const isShare = size.endsWith('%');
    const number = readWhole('stage', isShare ? size.slice(0, -1) : size);
    return { ...(isShare ? { percent: number } : { count: number }), ...rules };
  });
  if (stages.length === 0 && Object.keys(rules).length > 0) throw new UsageError('--stage', 'is needed');
  return stages.length === 0 ? {} : { stages };
}

function rulesOf(given: Given): Partial<Body> {
  const [rate, abort, after, label] = [
    given.text('rate'),
    given.text('abort'),
    given.text('after'),
    given.text('label'),
  ];
  if (after !== undefined && abort === undefined) throw new UsageError('--after', 'needs --abort');
  const { expireIn, answerWithin } = readTerms(given);
  return {
    ...(rate !== undefined && { ratePerMinute: readWhole('rate', rate) }),
    ...(abort !== undefined && {
      abort: {
        failedPercent: readWhole('abort', abort),
        minimumResults: after === undefined ? DEFAULT_MINIMUM : readWhole('after', after),
      },
    }),
    ...(label !== undefined && { label }),
    ...(expireIn !== undefined && { expireIn }),
    ...(answerWithin !== undefined && { answerWithin }),
  };
}

async function bodyOf(given: Given, terminal: Terminal): Promise<Body> {
  const file = given.text('file');
  const read = file === undefined ? {} : await readJson('--file', file, terminal);
  const body = { devices: {}, ...(read as object), ...operationOf(given), ...devicesOf(given), ...stagesOf(given) };
  if (!('operation' in body)) throw new UsageError('--install', 'is needed (or --firmware, --language, or --file)');
  return { ...body, ...rulesOf(given) } as Body;
}

export const rolloutStart: Command = {
  name: 'rollout start',
  summary: 'Starts a rollout: one operation for many devices, in stages',
  about: `Without options that select devices it is for all activated devices. Settings for networks, windows, retries and other
rules are given in a file: the body of POST /v1/applications/{applicationId}/rollouts.`,
  options: { ...OPTIONS, ...APPLICATION_OPTIONS },
  examples: [
    'lapel rollout start --install com.example.camera@1.3.0 --stage 5% --succeeded 95 --soak 3600 --abort 10 --after 20',
    'lapel rollout start --language ja-JP --tag site=osaka --rate 60 --wait',
    'lapel rollout start --file release.json --label "Camera 1.3.0"',
  ],
  endsItself: true,
  async run(given, terminal) {
    const body = await bodyOf(given, terminal);
    const application = await openApplication(given, terminal);
    const { rolloutId, devices } = await application.call('start the rollout', (lapel) => lapel.startRollout({ body }));
    if (!given.flag('wait'))
      return { json: { ok: true, rolloutId, devices }, text: `${rolloutId} for ${devices} devices\n` };
    terminal.stderr.write(`${rolloutId} for ${devices} devices\n`);
    return outcomeOf(application, rolloutId, terminal);
  },
};

import type { KeyObject } from 'node:crypto';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { type Given, readSeconds } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { readJson, readText } from '../line/read-json.ts';
import { UsageError } from '../line/usage-error.ts';
import { BODY_OPTIONS, type Body, readBody } from '../rollout/rollout-body.ts';
import { oneLine } from '../show/plain-text.ts';
import type { Terminal } from '../show/terminal.ts';
import { identify, type LocalFile } from '../software/local-file.ts';
import { digestOf, privateKeyOf } from '../software/sign-file.ts';
import { COMMIT, type Identity, labelOf, NAME } from './identity.ts';
import { checkPlaces, type Places } from './report.ts';

// Seconds. Jobs of a CI have a limit, and one that is killed says nothing.
const TIMEOUT = 3600;
const { label: _, continuous: __, ...ROLLOUT_OPTIONS } = BODY_OPTIONS;

/** The options of `lapel release`, besides those that name the application. */
export const OPTIONS = {
  commit: { value: 'ID', text: 'the commit of the build (GITHUB_SHA, CI_COMMIT_SHA)' },
  name: { value: 'NAME', text: 'tells several rollouts of a version apart, such as canary and fleet (release)' },
  as: { value: 'V', text: 'register it as this version instead of the one in the file' },
  key: {
    value: 'FILE.pem',
    file: true,
    text: 'sign with this private key; - reads standard input (LAPEL_SIGNING_KEY: its text)',
  },
  signature: {
    value: 'FILE.json',
    file: true,
    text: 'a signature that was made elsewhere: lapel app sign --no-upload --json',
  },
  timeout: { value: 'SECONDS', text: `wait at most this many seconds for all of it (${TIMEOUT}); the rollout goes on` },
  'on-approval': {
    value: 'WHAT',
    choices: ['wait', 'end'],
    text: 'a stage that waits for an approval: wait on, or end with exit code 0',
  },
  'on-interrupt': {
    value: 'WHAT',
    choices: ['leave', 'pause'],
    text: 'a job that is cancelled: leave the rollout as it is, or pause it',
  },
  options: {
    value: 'TEXT',
    text: 'further options, one a line, as --stage 5%: for the input of an action, without a shell',
  },
  summary: { value: 'FILE', text: 'append a summary in Markdown to this file' },
  variables: { value: 'FILE', text: 'append the results to this file, as lines NAME=value' },
  ...ROLLOUT_OPTIONS,
} satisfies Options;

type Signature = SchemaTypes['rest/signature-put'];

/** A release as the command line asks for it. */
export interface Wanted {
  identity: Identity;
  file: LocalFile;
  sha256: string;
  signer: KeyObject | Signature | undefined;
  body: Body;
  /** Milliseconds for all of it. */
  timeout: number;
  endsAtApproval: boolean;
  pauses: boolean;
  places: Places;
}

const fromEnvironment = ({ env }: Terminal, ...names: string[]): string | undefined =>
  names.map((name) => env[name]).find((text) => text !== undefined && text !== '');

async function readSigner(given: Given, terminal: Terminal): Promise<Wanted['signer']> {
  const [key, signature] = [given.text('key'), given.text('signature')];
  if (key !== undefined && signature !== undefined)
    throw new UsageError('--signature', 'cannot be combined with --key');
  if (signature !== undefined) {
    const { keyId, sha256, signature: text } = (await readJson('--signature', signature, terminal)) as Signature;
    if (typeof text !== 'string') throw new UsageError('--signature', `${signature} has no signature`);
    return { keyId, sha256, signature: text };
  }
  if (key !== undefined) return privateKeyOf(await readText('--key', key, terminal), '--key', key);
  const pem = fromEnvironment(terminal, 'LAPEL_SIGNING_KEY');
  return pem === undefined ? undefined : privateKeyOf(pem, 'LAPEL_SIGNING_KEY', 'the variable');
}

async function readIdentity(given: Given, file: LocalFile, terminal: Terminal): Promise<Identity> {
  const commit = given.text('commit') ?? fromEnvironment(terminal, 'GITHUB_SHA', 'CI_COMMIT_SHA');
  const name = given.text('name') ?? 'release';
  if (commit === undefined) throw new UsageError('--commit', 'is needed (or GITHUB_SHA, CI_COMMIT_SHA)');
  if (!COMMIT.test(commit))
    throw new UsageError('--commit', 'is 1 to 64 letters, digits, dots, hyphens and underscores');
  if (!NAME.test(name)) throw new UsageError('--name', 'is 1 to 24 letters, digits and hyphens');
  const manifest = await identify(file);
  if (!manifest) throw new UsageError(oneLine(file.name), 'is not an APK file');
  const version = given.text('as') ?? manifest.versionName;
  if (version === null) throw new UsageError('--as', 'is needed: the file has no version name');
  return { package: manifest.package, version, name, commit };
}

async function readRollout(given: Given, identity: Identity, terminal: Terminal): Promise<Body> {
  const { package: software, version } = identity;
  const asked = { operation: 'installSoftware' as const, parameters: { package: software, version } };
  const { dryRun: ___, ...read } = await readBody(given, asked, terminal);
  if (read.label !== undefined)
    throw new UsageError('--file', 'has a label, but the label of a release names its commit; leave it out');
  if (read.continuous)
    throw new UsageError('--file', 'a continuous rollout never completes, so no job can wait for it');
  if (read.devices === undefined)
    throw new UsageError(
      '--all',
      'is needed to release to the whole fleet; or select devices, such as --tag ring=canary',
    );
  return { ...read, label: labelOf(identity) } as Body;
}

/** Reads the options and the file. Throws a UsageError that names the option. */
export async function readWanted(given: Given, file: LocalFile, terminal: Terminal): Promise<Wanted> {
  const places = { summary: given.text('summary'), variables: given.text('variables') };
  const seconds = given.text('timeout');
  const identity = await readIdentity(given, file, terminal);
  const wanted = {
    identity,
    file,
    signer: await readSigner(given, terminal),
    body: await readRollout(given, identity, terminal),
    timeout: 1000 * (seconds === undefined ? TIMEOUT : readSeconds('timeout', seconds)),
    endsAtApproval: given.text('on-approval') === 'end',
    pauses: given.text('on-interrupt') === 'pause',
    places,
  };
  await checkPlaces(places);
  return { ...wanted, sha256: await digestOf(file) };
}

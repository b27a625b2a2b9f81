import { isRecord } from '../../mqtt/messages.ts';
import { type Ack, answerAfterSending, codeOf, shownAck, stillAnswers } from '../asking.ts';
import { Breach } from '../breach.ts';
import { type Install, installOf, installParameters, signerOf } from '../install.ts';
import { type PackageFile, spoilt } from '../package-files.ts';
import { need, reconnected, type Stage } from '../stage.ts';
import type { Case } from './case.ts';

/** Downloads and installations take longer than other commands: this many times the time for an answer. */
const PATIENCE = 4;

export const answerOf = (stage: Stage, { command }: Install): Promise<Ack> =>
  answerAfterSending(stage, command, { times: PATIENCE });

async function install(stage: Stage): Promise<string> {
  need(stage, 'installSoftware');
  const order = installOf(stage);
  const ack = await answerOf(stage, order);
  if (ack.status === 'succeeded' && !order.file.isComplete)
    throw new Breach('downloads', 'a download of the whole file before success', 'success without it');
  return shownAck(ack);
}

/** Whether the status lists the version as installed. */
export const lists = (status: unknown, { package: name, version }: PackageFile): boolean =>
  isRecord(status) &&
  Array.isArray(status['software']) &&
  status['software'].some((one) => isRecord(one) && one['package'] === name && one['version'] === version);

const isFailedDownload = (ack: Ack): boolean => ack.status === 'failed' && codeOf(ack) === 'DOWNLOAD_FAILED';

/** Offers a file that is not the promised one. The device must refuse it, and must not have installed it. */
async function refuses(stage: Stage, operation: string, served: (wanted: PackageFile) => Buffer): Promise<string> {
  need(stage, operation);
  const order = installOf(stage, { operation, served });
  const ack = await answerOf(stage, order);
  need(stage, operation);
  if (!isFailedDownload(ack)) throw new Breach('downloads', 'failed DOWNLOAD_FAILED', JSON.stringify(ack));
  const mark = stage.service.received.length;
  await reconnected(stage);
  await stillAnswers(stage, 'answers');
  const statuses = stage.service.received.slice(mark).filter(({ kind }) => kind === 'status');
  if (statuses.some(({ body }) => lists(body, order.wanted)))
    throw new Breach('downloads', 'a status without the refused version', 'a status that lists it as installed');
  return shownAck(ack);
}

/** The device may ask for a fresh URL, and then it gets a good one; or it fails. */
async function expiredUrl(stage: Stage): Promise<string> {
  need(stage, 'installSoftware');
  const order = installOf(stage, { service: () => 'expired' });
  const fresh = stage.files.host(order.wanted.bytes, 'whole');
  const {
    package: _,
    version: __,
    ...made
  } = installParameters(order.wanted, fresh.url, order.wanted.bytes, signerOf(stage));
  stage.freshUrls.set(order.command.transactionId, made);
  const ack = await answerOf(stage, order);
  if (ack.status === 'succeeded' && !fresh.isComplete)
    throw new Breach('downloads', 'no success without the file', `${shownAck(ack)}, but every download was refused`);
  if (!fresh.isComplete && !isFailedDownload(ack))
    throw new Breach('downloads', 'failed DOWNLOAD_FAILED', JSON.stringify(ack));
  return fresh.isComplete ? `${shownAck(ack)}, with a fresh URL` : shownAck(ack);
}

/** Where downloads are cut, from the bytes of the whole file. */
const CUTS: readonly ((size: number) => number)[] = [() => 0, () => 1, (size) => size >> 1, (size) => size - 1];

/** The device may download the rest, or fail. */
async function cutDownloads(stage: Stage): Promise<string> {
  const ends: string[] = [];
  for (const cut of CUTS) {
    need(stage, 'installSoftware');
    const order = installOf(stage, { service: ({ bytes }) => ({ cutBehind: cut(bytes.length) }) });
    const ack = await answerOf(stage, order);
    const { isComplete } = order.file;
    if (ack.status === 'succeeded' && !isComplete)
      throw new Breach(
        'downloads',
        'no success with a part of a file',
        `${shownAck(ack)} after a download that was cut`,
      );
    if (!isComplete && !isFailedDownload(ack))
      throw new Breach('downloads', 'failed DOWNLOAD_FAILED', JSON.stringify(ack));
    ends.push(isComplete ? `${shownAck(ack)} after another attempt` : shownAck(ack));
  }
  return ends.join(', ');
}

const shorter = ({ bytes }: PackageFile): Buffer => bytes.subarray(0, -1);

export const downloadCases: Readonly<Record<string, Case>> = {
  installSoftware: {
    about: 'an APK of 64 KiB is downloaded; it is installed, or fails with a code',
    rules: ['answers', 'downloads'],
    play: install,
  },
  'wrong-hash': {
    about: 'a file of the right size with one other byte',
    rules: ['downloads'],
    play: (stage) => refuses(stage, 'installSoftware', spoilt),
  },
  'wrong-size': {
    about: 'a file that lacks its last byte',
    rules: ['downloads'],
    play: (stage) => refuses(stage, 'installSoftware', shorter),
  },
  'expired-url': {
    about: 'a download URL that is answered 403; if the device asks for a fresh one, it gets it, twice',
    rules: ['downloads', 'requests'],
    play: expiredUrl,
  },
  'cut-download': {
    about: 'downloads that break off once each: before the first byte, behind it, in the middle, before the last one',
    rules: ['downloads'],
    play: cutDownloads,
  },
  'wrong-firmware': {
    about: '`updateFirmware` with a file that has one other byte; a real firmware is never sent',
    rules: ['downloads'],
    play: (stage) => refuses(stage, 'updateFirmware', spoilt),
  },
};

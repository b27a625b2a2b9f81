import type { KeyObject } from 'node:crypto';
import { signVersion } from '@lapel/schemas/base/software-key';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Application } from '../account/access.ts';
import { Interrupted } from '../line/interrupted.ts';
import { Failure } from '../show/failure.ts';
import type { Screen, Terminal } from '../show/terminal.ts';
import type { LocalFile } from '../software/local-file.ts';
import { startDistribution } from '../software/start-distribution.ts';
import { uploadFile } from '../software/upload-file.ts';
import { insist } from './patient.ts';

type Signature = SchemaTypes['rest/signature-put'];
type Binary = SchemaTypes['rest/binary-status'];

export interface Version {
  package: string;
  version: string;
  /** The SHA-256 of the local file. */
  sha256: string;
}

export interface Publishing {
  application: Application;
  version: Version;
  file: LocalFile;
  /** The key that signs, or a signature that was made elsewhere; without both nothing is signed. */
  signer: KeyObject | Signature | undefined;
  screen: Screen;
  terminal: Terminal;
  /** The milliseconds that are left. */
  left: () => number;
}

// Milliseconds between two looks at a file whose SHA-256 the service computes.
const LOOK_AGAIN = 1_000;

/** The binary of a version; undefined when the version is not registered yet. */
async function readBinary(application: Application, names: { package: string; version: string }) {
  const { package: software, version } = names;
  try {
    return await application.call(`read the file of ${software} ${version}`, (lapel) => lapel.readBinary(names));
  } catch (error) {
    if (error instanceof Failure && error.refusal?.status === 404) return undefined;
    throw error;
  }
}

/**
 * Compares the file of a version with the local one, as soon as the service knows its SHA-256. Resolves to false when the
 * version has no file. Throws a Failure when the files differ.
 */
export async function hasThisFile({ application, version, file, terminal, left }: Publishing): Promise<boolean> {
  const { sha256, ...names } = version;
  let binary: Binary | undefined;
  do {
    if (terminal.interrupted.aborted) throw new Interrupted();
    if (binary) await terminal.pause(LOOK_AGAIN, terminal.interrupted).catch(() => undefined);
    binary = await readBinary(application, names);
    if (!binary?.appFileExists) return false;
  } while (binary.sha256 === null && binary.fileSize === file.size && left() > 0);
  if (binary.sha256 === sha256) return true;
  const shown = binary.sha256 === null ? `${binary.fileSize} bytes` : `SHA-256 ${binary.sha256}`;
  const own = binary.sha256 === null ? `${file.size} bytes` : sha256;
  throw new Failure(
    `${names.package} ${names.version} has another file (${shown}) than this build (${own}): a version never changes its file`,
    {
      advice: [
        'give the build a new version; or, if only the job was started again, give it the file of its first run',
        `if no device has the version: lapel version remove-file ${names.package} ${names.version}`,
      ],
    },
  );
}

/** Registers the version and uploads the file. A broken upload begins again with a new URL. */
async function upload({ application, version, file, screen, terminal, left }: Publishing): Promise<void> {
  const { package: name, version: number } = version;
  const body = { package: name, version: number, fileSize: file.size };
  await insist(
    async () => {
      const { urlList } = await application.call(`register ${name} ${number}`, (lapel) => lapel.uploadApp({ body }));
      await uploadFile(file, { url: String(urlList[0]?.uploadUrl), screen, terminal });
    },
    { left, terminal },
  );
}

/** Stores the signature, unless the same one is there. Resolves to the key of the signature. */
async function sign({ application, version, signer, screen }: Publishing): Promise<string | null> {
  if (!signer) return null;
  const { sha256, ...names } = version;
  const signature = 'signature' in signer ? signer : signVersion(signer, names, sha256);
  const what = `store the signature of ${names.package} ${names.version}`;
  const { keyId, problem } = await application.call(what, (lapel) => lapel.putSignature({ ...names, body: signature }));
  if (problem !== null) throw new Failure(`the signature of ${names.package} ${names.version}: ${problem}`);
  screen.line(`signed with key ${keyId}`);
  return keyId;
}

/**
 * Makes a version installable: file, signature, distribution. What is there already is left as it is. Resolves to the key of
 * the signature, null without one. Throws a Failure.
 */
export async function publish(publishing: Publishing): Promise<string | null> {
  const { application, version, screen } = publishing;
  if (await hasThisFile(publishing)) screen.line('the file is there already');
  else {
    await upload(publishing);
    // Another job may have sent another file at the same moment, and the last one wins.
    if (!(await hasThisFile(publishing))) throw new Failure('the file that was uploaded is gone again');
  }
  const keyId = await sign(publishing);
  screen.line(`distribution ${await startDistribution(application, version)}`);
  return keyId;
}

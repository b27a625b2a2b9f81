import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { type LocalFile, openLocalFile } from '../../software/local-file.ts';

/** The SHA-256 of a file, in hexadecimal digits. */
export async function sha256Of({ handle }: LocalFile): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** A binary that a file names: where it is, and its SHA-256; null when it is not there. */
export interface NamedBinary {
  name: string;
  path: string;
  sha256: string | null;
  size: number;
}

export async function readBinaryFile(name: string, configuration: string): Promise<NamedBinary> {
  const path = resolve(dirname(configuration), name);
  if (!existsSync(path)) return { name, path, sha256: null, size: 0 };
  await using file = await openLocalFile(path);
  return { name, path, sha256: await sha256Of(file), size: file.size };
}

type Signature = SchemaTypes['rest/signature-put'];

/** Reads a signature as `lapel app sign --no-upload --json` prints it; a sentence when it is none, or of something else. */
export async function readSignatureFile(
  name: string,
  { configuration, software }: { configuration: string; software: { package: string; version: string } },
): Promise<Signature | string> {
  let read: unknown;
  try {
    read = JSON.parse(await readFile(resolve(dirname(configuration), name), 'utf8'));
  } catch (error) {
    return `${name} cannot be read: ${(error as Error).message}`;
  }
  const { keyId, sha256, signature, ...rest } = (read ?? {}) as Partial<Signature & typeof software>;
  const isSignature = [keyId, sha256, signature].every((text) => typeof text === 'string');
  if (!isSignature) return `${name} is no signature; lapel app sign --no-upload --json prints one`;
  for (const field of ['package', 'version'] as const) {
    const signed = rest[field];
    if (signed !== undefined && signed !== software[field])
      return `${name} is the signature of the ${field} ${String(signed)}`;
  }
  return { keyId, sha256, signature } as Signature;
}

import type { BinaryStatus } from '@lapel/schemas/contracts/types';
import type { Binary } from '../../core/software/binaries.ts';
import { NO_STORE } from '../http/no-store.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication, AtVersion } from './services.ts';

type Services = Pick<ApiServices, 'software' | 'formatTime'>;

/** The state of the binary of a version. */
export const binaryBody = (
  name: { package: string; version: string },
  { stored, sha256, inspected, warning, certificates, signature }: Binary,
  formatTime: ApiServices['formatTime'],
): BinaryStatus => ({
  package: name.package,
  version: name.version,
  appFileExists: stored !== undefined,
  fileSize: stored?.size ?? null,
  sha256: sha256 ?? null,
  uploadDate: stored ? formatTime(stored.uploadedAt) : null,
  inspected,
  warning,
  certificates,
  signature,
});

/** Reads whether a version has a binary (op 20). */
export async function readBinary({ software, formatTime }: Services, { params, caller }: AtVersion): Promise<Answer> {
  const binary = await software.binaries.find(caller.developerId, params);
  return { status: 200, body: binaryBody(params, binary, formatTime) };
}

/** Deletes the binary of a version (op 21). */
export async function removeBinary({ software }: Services, { params, caller }: AtVersion): Promise<Answer> {
  await software.binaries.remove(caller.developerId, params);
  return { status: 204 };
}

/** Issues a URL to upload the binary of a version (op 22). */
export async function issueUploadUrl({ software }: Services, { params, caller }: AtVersion): Promise<Answer> {
  return { status: 200, headers: NO_STORE, body: await software.binaries.uploadUrl(caller.developerId, params) };
}

/** Registers software and issues a URL to upload it (op 23). */
export async function uploadApp(
  { software }: Services,
  { caller, body }: AtApplication<'rest/app-upload'>,
): Promise<Answer> {
  return { status: 200, headers: NO_STORE, body: await software.upload(caller, body) };
}

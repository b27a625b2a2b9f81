import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Signature } from '../../core/software/signature-repository.ts';
import { toUtc } from '../../runtime/clock.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication, AtVersion } from './services.ts';

type Services = Pick<ApiServices, 'software'>;

const signatureBody = (
  { keyId, sha256, signature, signedAt }: Signature,
  problem: string | null,
): SchemaTypes['rest/version-signature'] => ({ keyId, sha256, signature, signedAt: toUtc(signedAt), problem });

/** Reads the signature of a version, and why it does not verify. */
export async function readSignature({ software }: Services, { params, caller }: AtVersion): Promise<Answer> {
  const { problem, ...signature } = await software.signatures.find(caller.developerId, params);
  return { status: 200, body: signatureBody(signature, problem) };
}

/** Stores the signature of a version, if it verifies. */
export async function putSignature(
  { software }: Services,
  { params, caller, body, changed }: AtVersion<'rest/signature-put'>,
): Promise<Answer> {
  const signature = await software.signatures.put(caller.developerId, params, body);
  await changed({ keyId: signature.keyId, sha256: signature.sha256 });
  return { status: 200, body: signatureBody(signature, null) };
}

/** Removes the signature of a version. */
export async function removeSignature({ software }: Services, { params, caller }: AtVersion): Promise<Answer> {
  await software.signatures.remove(caller.developerId, params);
  return { status: 204 };
}

/** Reads the keys and rules of the developer, which only administration changes. */
export async function readSoftwareTrust({ software }: Services, { caller }: AtApplication): Promise<Answer> {
  const { keys, ...rules } = await software.keys.trust(caller.developerId);
  return { status: 200, body: { ...rules, keys: keys.map((key) => ({ ...key, createdAt: toUtc(key.createdAt) })) } };
}

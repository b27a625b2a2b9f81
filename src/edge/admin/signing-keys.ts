import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { toUtc } from '../../runtime/clock.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At } from './services.ts';

type Services = Pick<AdminServices, 'accessTokens'>;

const bodyOf = ({ accessTokens }: Services): SchemaTypes['admin/signing-key-list'] => ({
  keys: accessTokens
    .signingKeys()
    .map(({ keyId, state, createdAt }) => ({ keyId, state, createdAt: toUtc(createdAt) }))
    .reverse(),
});

/** Lists the keys that sign access tokens, the newest first. */
export function listSigningKeys(services: Services): Answer {
  return { status: 200, body: bodyOf(services) };
}

/** Makes a new signing key; at once, it ends all others, with their tokens. */
export async function renewSigningKey(
  services: Services,
  { body, changed }: At<never, 'admin/signing-key-renew'>,
): Promise<Answer> {
  const { atOnce = false } = body ?? {};
  const isMade = await services.accessTokens.renewSigningKey(atOnce);
  await changed({ renewed: isMade, atOnce });
  return { status: 200, body: bodyOf(services) };
}

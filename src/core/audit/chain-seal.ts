import { DomainError } from '@lapel/schemas/contracts/errors';
import { keyIdOf, type Place, type Vault } from '../../platform/encryption/vault.ts';

/** The seal is made and opened here only, so no other value of the database can be put in its place. */
const PLACE: Place = ['audit_chain', 'seal', 1];
/** Stored in place of a seal after one was wrong. It is not encrypted, so it never counts as one. */
const WRONG = 'wrong';

interface End {
  position: number;
  hash: string;
}

/**
 * The meaning of the seal of the chain's end:
 * - `right`: the writer of this end had the encryption key, and so had all writers since the entry at `since`;
 * - `none`: there is none for this end;
 * - `unknownKey`: it was made with a key, `keyId`, that this process does not have;
 * - `wrong`: who wrote this end, or this seal, did not have the key.
 */
export interface ChainSeal {
  state: 'right' | 'none' | 'unknownKey' | 'wrong';
  since: number | null;
  keyId: string | null;
}

const without = (state: ChainSeal['state'], keyId: string | null = null): ChainSeal => ({ state, since: null, keyId });

/** Judges a stored seal of an end. */
export function judgeSeal(vault: Vault, { position, hash }: End, seal: string | null): ChainSeal {
  if (seal === null) return without('none');
  const keyId = keyIdOf(seal);
  if (keyId === null) return without('wrong');
  let text: string;
  try {
    text = vault.open(PLACE, seal);
  } catch (error) {
    return error instanceof DomainError ? without('unknownKey', keyId) : without('wrong', keyId);
  }
  const [since, at, sealed] = text.split(' ');
  // A process without the key, such as a command beside the service, has added entries.
  if (Number(at) < position) return without('none', keyId);
  return Number(at) === position && sealed === hash
    ? { state: 'right', since: Number(since), keyId }
    : without('wrong', keyId);
}

/**
 * The seal of an end that follows the one before it: encrypted, so that nobody without the key can write it. It names the
 * entry since which each end was sealed. A wrong one stays wrong, for else the next entry would cover the tracks; without a
 * key the seal of the former end stays.
 */
export function nextSeal(vault: Vault, before: End, seal: string | null, next: End): string | null {
  const { state, since } = judgeSeal(vault, before, seal);
  if (state === 'wrong') return WRONG;
  if (!vault.seals()) return seal;
  return vault.seal(PLACE, `${since ?? next.position} ${next.position} ${next.hash}`);
}

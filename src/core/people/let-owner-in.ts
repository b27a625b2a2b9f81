import type { UnitOfWork } from '../../platform/database/sql.ts';
import { type Clock, toUtc } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { hashSecret } from '../../runtime/secret-hash.ts';
import { sealEntry } from '../audit/audit-chain.ts';
import { detailEntry, insertEntry, insertObject } from '../audit/audit-repository.ts';
import { TOKEN_PREFIX } from './people.ts';
import { findPerson, insertPerson, lockAdministration, updatePerson } from './person-repository.ts';
import { insertToken } from './token-repository.ts';

const DAY = 86_400_000_000;

interface Wanted {
  personId: string;
  /** Days for which the token is valid. */
  days: number;
  /** The user of the operating system who asks. */
  account: string;
}

/**
 * Makes a person an owner who is not disabled (a new one, if there is none with this id) and gives them a token, in one
 * unit of work with its entry in the audit log. It is for somebody on the machine of the service, when nobody can sign in
 * any more, so it asks for no token and knows no bound on tokens. Returns the token.
 */
export async function letOwnerIn(
  unit: UnitOfWork,
  { personId, days, account }: Wanted,
  { clock, ids }: { clock: Clock; ids: Ids },
): Promise<string> {
  const now = clock.now();
  await lockAdministration(unit, unit.forUpdate);
  const known = await findPerson(unit, personId, unit.forUpdate);
  const login = known?.login ? { ...known.login, hasRole: true } : null;
  const who = { personId, name: known?.name ?? personId, login };
  const person = { ...who, role: 'owner', disabled: false, createdAt: now } as const;
  if (known) await updatePerson(unit, person);
  else await insertPerson(unit, person);
  const secret = TOKEN_PREFIX + ids.secret();
  const token = { tokenId: ids.next('token', now), personId, name: `made on the machine at ${toUtc(now)}` };
  const times = { createdAt: now, expiresAt: now + days * DAY, lastUsedAt: null };
  await insertToken(unit, { ...token, ...times, secretHash: hashSecret(secret) });
  const auditId = await insertEntry(unit, {
    at: now,
    actorKind: 'machine',
    actorName: account,
    personId: null,
    personName: null,
    tokenName: null,
    action: 'lapel owner',
    resource: `/admin/v1/people/${encodeURIComponent(personId)}`,
    requestId: ids.next('machine', now),
    address: null,
  });
  const details = { id: token.tokenId, before: known ? { role: known.role, disabled: known.disabled } : null };
  detailEntry(unit, auditId, JSON.stringify(details));
  insertObject(unit, auditId, { kind: 'person', id: personId });
  await sealEntry(unit, auditId);
  return secret;
}

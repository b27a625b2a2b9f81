import type { Test } from 'tap';
import { request } from 'undici';
import type { Role } from '../../src/core/people/roles.ts';
import type { World } from '../world.ts';

interface Made {
  personId: string;
  tokenId: string;
  token: string;
}

/** Creates a person with a token, in the name of the administrator token or of an owner. */
export async function createPerson(
  world: World,
  { personId, role, days }: { personId: string; role: Role; days?: number | null },
): Promise<Made> {
  const admin = world.admin();
  const made = await admin.post('/admin/v1/people', { json: { personId, name: `Person ${personId}`, role } });
  if (made.status !== 201) throw new Error(`no person: ${made.status}`);
  return { personId, ...(await addToken(world, personId, { name: 'first', days })) };
}

/** Makes a token for a person. */
export async function addToken(
  world: World,
  personId: string,
  { name, days }: { name: string; days?: number | null | undefined },
): Promise<{ tokenId: string; token: string }> {
  const json = { name, ...(days !== undefined && { expiresInDays: days }) };
  const made = await world.admin().post(`/admin/v1/people/${personId}/tokens`, { json });
  if (made.status !== 201) throw new Error(`no token: ${made.status}`);
  return { tokenId: made.body.tokenId, token: made.body.token };
}

/** Headers with which the console's own pages send requests. */
export const pageHeaders = (origin: string): Record<string, string> => ({
  origin,
  'sec-fetch-site': 'same-origin',
  'x-lapel-console': '1',
});

/** Signs in to the console with a token; returns the cookie. */
export async function signIn(t: Test, base: string, token: string): Promise<string> {
  const opened = await request(`${base}/console/session`, {
    method: 'POST',
    headers: { ...pageHeaders(base), 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  await opened.body.dump();
  t.equal(opened.statusCode, 204, 'the token signs in');
  return String(opened.headers['set-cookie']).split(';')[0] ?? '';
}

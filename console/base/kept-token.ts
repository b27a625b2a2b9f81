import { ROOT } from './place.ts';

// The access token of an application survives a reload of its tab. It is in `sessionStorage` and not in a cookie, because
// browsers send cookies to every port of the host. docs/operations.md says who can read it.

interface KeptToken {
  applicationId: string;
  accessToken: string;
  scopes: readonly string[];
  member: { memberId: string; name: string; role: string } | null;
}

const KEY = `lapel token ${ROOT}`;

/** Some browsers refuse access to the storage. Then the token is in memory only. */
function inStorage<Result>(use: (storage: Storage) => Result): Result | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}

export function keepToken(token: KeptToken, seconds: number): void {
  const kept = { ...token, expiresAt: Date.now() + seconds * 1000 };
  inStorage((storage) => storage.setItem(KEY, JSON.stringify(kept)));
}

export function forgetToken(): void {
  inStorage((storage) => storage.removeItem(KEY));
}

/** The token of this tab; null without one, and after the time for which it was issued. */
export function keptToken(): KeptToken | null {
  const kept = inStorage((storage) => JSON.parse(storage.getItem(KEY) ?? 'null') as unknown);
  if (typeof kept !== 'object' || kept === null) return null;
  const {
    applicationId,
    accessToken,
    scopes,
    member = null,
    expiresAt,
  } = kept as Partial<KeptToken & { expiresAt: number }>;
  const isWhole = typeof applicationId === 'string' && typeof accessToken === 'string' && Array.isArray(scopes);
  if (!isWhole || !(Number(expiresAt) > Date.now())) {
    forgetToken();
    return null;
  }
  return { applicationId, accessToken, scopes, member };
}

import { ROLES, type Role } from './roles.ts';
import { LOOPBACK } from './setting-values.ts';

/** A provider of sign-ins (OpenID Connect) for the people who administer the service. */
export interface ProviderSettings {
  /** The name in its redirect URI. */
  providerId: string;
  /** The text of its button. */
  name: string;
  issuer: string;
  clientId: string;
  /** The secret of the client as it is now in its file; null for a client without a secret. */
  clientSecret(): string | null;
  scope: string;
  /** The claim with the values that roles are given for. */
  roleClaim: string;
  /** The roles by the values of that claim. */
  roles: ReadonlyMap<string, Role>;
}

const MOST_PROVIDERS = 10;
const MOST_ROLES = 100;
const LONGEST_TEXT = 1024;
const PROVIDER_ID = /^[a-z0-9][a-z0-9-]{0,31}$/;
const OPTIONAL = { clientSecret: null, clientSecretFile: null, scope: 'openid profile' };
const NEEDED = ['providerId', 'name', 'issuer', 'clientId', 'roleClaim', 'roles'];
const KNOWN: ReadonlySet<string> = new Set([...NEEDED, ...Object.keys(OPTIONAL)]);

interface Source {
  /** Makes the error for the setting. */
  fault(problem: string): Error;
  /** Reads a secret from a file; throws when it cannot be read. */
  contentOf(path: string): string;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Reads a secret from a file now, which throws when that fails, and again for each use, so that it can be changed without
 * a restart. While the file cannot be read, the secret is the one of before.
 */
function createFileSecret(read: () => string): () => string {
  let latest = read();
  return () => {
    try {
      latest = read();
    } catch {
      // The file is being replaced.
    }
    return latest;
  };
}

/** Whether an issuer can be trusted to be itself: https, or http on this machine; without query and fragment. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (url === null) return false;
  if (`${url.search}${url.hash}${url.username}` !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
}

function readProvider(given: unknown, at: string, { fault, contentOf }: Source): ProviderSettings {
  if (!isObject(given)) throw fault(`${at} must be an object`);
  for (const name of Object.keys(given)) if (!KNOWN.has(name)) throw fault(`${at}.${name} is not known`);
  const text = (name: string, fallback?: string | null): string => {
    const value = given[name] ?? fallback;
    if (typeof value !== 'string' || value === '' || value.length > LONGEST_TEXT)
      throw fault(`${at}.${name} must be a text of 1 to ${LONGEST_TEXT} characters`);
    return value;
  };
  const providerId = text('providerId');
  if (!PROVIDER_ID.test(providerId))
    throw fault(`${at}.providerId must have small letters, digits and hyphens only, at most 32`);
  const issuer = text('issuer');
  if (!isIssuer(issuer)) throw fault(`${at}.issuer must be an https URL (or http on loopback) without a query`);
  const { clientSecret, clientSecretFile, roles } = given;
  if (clientSecret !== undefined && clientSecretFile !== undefined)
    throw fault(`${at}.clientSecretFile cannot be combined with clientSecret`);
  const scope = text('scope', OPTIONAL.scope);
  if (!scope.split(' ').includes('openid')) throw fault(`${at}.scope must contain openid`);
  if (!isObject(roles) || Object.keys(roles).length === 0) throw fault(`${at}.roles must be an object with roles`);
  if (Object.keys(roles).length > MOST_ROLES) throw fault(`${at}.roles must have at most ${MOST_ROLES} values`);
  const table = Object.entries(roles).map(([value, role]): [string, Role] => {
    const known = ROLES.find((one) => one === role);
    if (!known) throw fault(`${at}.roles: the role of "${value}" must be one of ${ROLES.join(', ')}`);
    return [value, known];
  });
  const ofText = clientSecret === undefined ? null : text('clientSecret');
  const ofFile = clientSecretFile === undefined ? undefined : text('clientSecretFile');
  return {
    providerId,
    name: text('name').slice(0, 64),
    issuer,
    clientId: text('clientId'),
    clientSecret: ofFile === undefined ? () => ofText : createFileSecret(() => contentOf(ofFile)),
    scope,
    roleClaim: text('roleClaim'),
    roles: new Map(table),
  };
}

/** Reads the providers from JSON; throws an error that names the faulty field. */
export function readProviders(json: string | null, source: Source): readonly ProviderSettings[] {
  if (json === null) return [];
  let given: unknown;
  try {
    given = JSON.parse(json);
  } catch {
    throw source.fault('must be JSON: an array of providers');
  }
  if (!Array.isArray(given)) throw source.fault('must be JSON: an array of providers');
  if (given.length > MOST_PROVIDERS) throw source.fault(`must have at most ${MOST_PROVIDERS} providers`);
  const providers = given.map((one, index) => readProvider(one, `[${index}]`, source));
  for (const name of ['providerId', 'issuer'] as const) {
    const values = providers.map((one) => one[name]);
    const twice = values.findIndex((value, index) => values.indexOf(value) !== index);
    if (twice !== -1) throw source.fault(`[${twice}].${name} is that of an earlier provider`);
  }
  return providers;
}

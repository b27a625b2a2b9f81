import { importJWK, type JWK, SignJWT } from 'jose';
import { columnsOf } from '../removals/customer.ts';
import type { World } from '../world.ts';

type Raw = Awaited<ReturnType<World['raw']>>;

/** The columns of the database (`table.column`) in which one of these texts stands, also as bytes. */
export async function columnsWith(world: World, raw: Raw, texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const forms = texts.flatMap((text) => [text, Buffer.from(text).toString('hex')]);
  for (const [table, columns] of await columnsOf(world, raw))
    for (const column of columns) {
      const rows = await raw.all<{ value: unknown }>(
        `SELECT ${world.databaseUrl === null ? column : `CAST(${column} AS TEXT)`} AS value FROM ${table}`,
      );
      const has = rows.some(({ value }) => {
        const text = Buffer.isBuffer(value) ? value.toString('hex') : String(value);
        return forms.some((form) => text.includes(form));
      });
      if (has) found.push(`${table}.${column}`);
    }
  return found.sort();
}

/**
 * Does as a thief of the database: takes the stored signing keys, and the hash of the application's secret, and signs a
 * token. Returns the tokens; none, when no stored key can be used.
 */
export async function forgeTokens(world: World, raw: Raw, applicationId: string): Promise<string[]> {
  const { createHash } = await import('node:crypto');
  const keys = await raw.all<{ id: string; jwk: string }>('SELECT key_id AS id, private_jwk AS jwk FROM signing_keys');
  const [application] = await raw.all<{ hash: Buffer }>(
    'SELECT secret_hash AS hash FROM applications WHERE application_id = ?',
    applicationId,
  );
  const mark = createHash('sha256')
    .update('mark')
    .update(application?.hash ?? '')
    .digest('base64url')
    .slice(0, 16);
  const now = Math.floor(world.clock.now() / 1_000_000);
  const tokens: string[] = [];
  for (const { id, jwk } of keys) {
    let parsed: JWK;
    try {
      parsed = JSON.parse(jwk) as JWK;
    } catch {
      continue;
    }
    const key = await importJWK({ ...parsed, kty: 'EC' }, 'ES256');
    const claims = { scope: 'svc:application:read', secret_mark: mark };
    const token = new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: id })
      .setIssuer(world.service.addresses.http)
      .setSubject(applicationId)
      .setJti('forged')
      .setIssuedAt(now)
      .setExpirationTime(now + 600);
    tokens.push(await token.sign(key));
  }
  return tokens;
}

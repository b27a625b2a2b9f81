import { generateKeyPair, importJWK, type JWK, SignJWT, UnsecuredJWT } from 'jose';
import { ALL_SCOPES, type World } from '../world.ts';

/** Signs tokens with the service's own key from its database; everything else in them may be wrong. */
export async function createForger(world: World, applicationId: string) {
  const keys = 'SELECT key_id AS kid, private_jwk AS jwk FROM signing_keys';
  const [row] = await (await world.raw()).all<Record<string, string>>(keys);
  const kid = String(row?.['kid']);
  const ownKey = await importJWK(JSON.parse(String(row?.['jwk'])) as JWK, 'ES256');
  const now = Math.floor(world.clock.now() / 1_000_000);
  const good = {
    iss: world.service.addresses.http,
    sub: applicationId,
    scope: ALL_SCOPES,
    iat: now,
    exp: now + 3600,
    jti: 'forged',
  };
  type Changes = Record<string, unknown>;
  /** The valid claims and header with these changes; undefined leaves one out. */
  const sign = (claims: Changes = {}, header: Changes = {}, key: Parameters<SignJWT['sign']>[0] = ownKey) =>
    new SignJWT({ ...good, ...claims }).setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid, ...header }).sign(key);

  /** Tokens that must be refused, by their fault. */
  async function bad(): Promise<Record<string, string>> {
    const { privateKey: otherKey } = await generateKeyPair('ES256');
    const secret = new TextEncoder().encode('a secret that is long enough for HS256');
    const own = await sign();
    const [head = '', body = '', signature = ''] = own.split('.');
    const otherBody = Buffer.from(JSON.stringify({ ...good, sub: 'another' })).toString('base64url');
    return {
      'a word': 'abc',
      empty: '',
      'with a space': 'a b',
      'only dots': '..',
      'not base64url': `${head}.%%%.${signature}`,
      'signed with another key': await sign({}, {}, otherKey),
      'of an unknown key id': await sign({}, { kid: 'nobody' }),
      'alg none': new UnsecuredJWT(good).encode(),
      'alg none with the key id': `${Buffer.from(JSON.stringify({ alg: 'none', kid })).toString('base64url')}.${body}.`,
      'a symmetric alg': await sign({}, { alg: 'HS256' }, secret),
      'another issuer': await sign({ iss: 'https://elsewhere.example' }),
      'the issuer with a slash': await sign({ iss: `${good.iss}/` }),
      'no issuer': await sign({ iss: undefined }),
      expired: await sign({ exp: now }),
      'without an end': await sign({ exp: undefined }),
      'without a subject': await sign({ sub: undefined }),
      'without scopes': await sign({ scope: undefined }),
      'scopes in a list': await sign({ scope: ALL_SCOPES.split(' ') }),
      'no time of issue': await sign({ iat: undefined }),
      'no token id': await sign({ jti: undefined }),
      'another claim under the same signature': `${head}.${otherBody}.${signature}`,
      'without its signature': `${head}.${body}.`,
      'a truncated signature': own.slice(0, -8),
    };
  }

  return { sign, bad };
}

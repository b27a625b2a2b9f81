import t from 'tap';
import { mayAs, ROLES, type Role } from '../../src/core/people/roles.ts';
import { ROUTES } from '../../src/edge/admin/routes.ts';
import { deviceIdOf, startWorld } from '../world.ts';
import { createPerson, pageHeaders, signIn } from './people-world.ts';

/** Values of path parameters that name nothing, so that a permitted request changes nothing. */
const NOTHING: Readonly<Record<string, string>> = {
  developerId: 'nobody',
  applicationId: 'none',
  deviceId: deviceIdOf(99_999),
  transactionId: '999999',
  removalId: `rem_${'0'.repeat(32)}`,
  batchId: `enb_${'0'.repeat(32)}`,
  authorityId: `dca_${'0'.repeat(32)}`,
  actionId: `act_${'0'.repeat(32)}`,
  rolloutId: `rol_${'0'.repeat(32)}`,
  deliveryId: `msg_${'0'.repeat(32)}`,
  sessionId: `session_${'0'.repeat(32)}`,
  tokenId: `token_${'0'.repeat(32)}`,
  keyId: '0'.repeat(16),
  certificateId: '0'.repeat(16),
  secretId: '0'.repeat(16),
  personId: 'nobody',
  noteId: `note_${'0'.repeat(32)}`,
  memberId: `member_${'0'.repeat(32)}`,
  package: 'com.example.none',
  version: '1.0.0',
};
const DAY = 86_400_000;
const GUARDED = ROUTES.filter(({ scope }) => scope !== null);
const place = (path: string): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = NOTHING[name];
    if (value === undefined) throw new Error(`no value for ${name}`);
    return value;
  });

t.test('every route of administration is open to the roles of the table, and to nobody else', async (t) => {
  const world = await startWorld(t);
  const base = world.service.addresses.admin;
  const client = world.anonymousAdmin();
  const tokens = new Map<Role, string>();
  const cookies = new Map<Role, string>();
  for (const role of ROLES) {
    tokens.set(role, (await createPerson(world, { personId: role, role })).token);
    // A session of its own token, because one of the routes replaces the token of the request.
    cookies.set(role, await signIn(t, base, (await createPerson(world, { personId: `page-${role}`, role })).token));
  }

  t.test('each route names a role', async (t) => {
    for (const { method, path, scope } of ROUTES.filter((route) => route.path.startsWith('/admin/')))
      t.ok(ROLES.includes(scope as Role), `${method} ${path}`);
  });

  t.test('with a token and with a session of the console', async (t) => {
    for (const { method, path, scope: needed } of GUARDED) {
      for (const role of ROLES) {
        const what = `${method} ${path} as ${role}`;
        const isOpen = mayAs(role, needed as Role);
        const byToken = await client.request(method, place(path), { token: tokens.get(role) });
        if (path === '/admin/v1/me/token') tokens.set(role, byToken.body.token);
        const headers = { ...pageHeaders(base), cookie: cookies.get(role) ?? '' };
        const bySession = await client.request(method, place(path), { headers });
        for (const answer of [byToken, bySession]) {
          const code = answer.headers['lapel-error-code'];
          if (isOpen) {
            t.ok(answer.status !== 401 && code !== 'ROLE_INSUFFICIENT', what);
          } else {
            const message = `this needs the role ${needed}; your role is ${role}.`;
            t.match({ code, ...answer }, { status: 403, code: 'ROLE_INSUFFICIENT', body: { message } }, what);
          }
        }
      }
    }
  });

  t.test('nobody comes in without a token, with a revoked or expired one, or while disabled', async (t) => {
    const [revoked, expired, disabled, deleted] = [
      await createPerson(world, { personId: 'revoked', role: 'owner' }),
      await createPerson(world, { personId: 'expired', role: 'owner', days: 1 }),
      await createPerson(world, { personId: 'disabled', role: 'owner' }),
      await createPerson(world, { personId: 'deleted', role: 'owner' }),
    ];
    const sessions = [];
    for (const { token } of [revoked, expired, disabled, deleted]) sessions.push(await signIn(t, base, token));
    const admin = world.admin();
    t.equal((await admin.delete(`/admin/v1/people/revoked/tokens/${revoked.tokenId}`)).status, 204);
    t.equal((await admin.patch('/admin/v1/people/disabled', { json: { disabled: true } })).status, 200);
    t.equal((await admin.delete('/admin/v1/people/deleted')).status, 204);
    const beforeExpiry = await client.get('/admin/v1/me', { token: expired.token });
    t.match(beforeExpiry, { status: 200, body: { personId: 'expired', role: 'owner', token: 'first' } });
    world.clock.advance(DAY);
    const wrong = [undefined, ...[revoked, expired, disabled, deleted].map(({ token }) => token)];
    for (const { method, path } of GUARDED) {
      for (const token of wrong) {
        const answer = await client.request(method, place(path), { token });
        t.equal(answer.headers['lapel-error-code'], 'ADMIN_TOKEN_INVALID', `${method} ${path}`);
      }
      for (const cookie of sessions) {
        const answer = await client.request(method, place(path), { headers: { ...pageHeaders(base), cookie } });
        t.equal(answer.headers['lapel-error-code'], 'SESSION_ENDED', `${method} ${path}`);
      }
    }
  });
});

import t from 'tap';
import { MEMBER_ROLES, type MemberRole, scopesOf } from '../../src/core/people/member-roles.ts';
import { MOST_MEMBERS } from '../../src/core/people/members.ts';
import { ROUTES } from '../../src/edge/api/routes.ts';
import { targetOf } from '../api/operations.ts';
import { run } from '../cli/run.ts';
import { open } from '../console/feed-client.ts';
import { ended } from '../removals/customer.ts';
import { deviceIdOf, startWorld } from '../world.ts';

const DAY = 86_400_000;
const GUARDED = ROUTES.filter(({ scope }) => scope !== null);
/** Routes that only the admin of the developer may use, whatever the scopes. */
const OF_ADMIN: ReadonlySet<string> = new Set(['listMembers', 'createMember', 'revokeMember']);

t.test('the people of a developer', async (t) => {
  const world = await startWorld(t);
  const own = await world.createTenant('own');
  const other = await world.createTenant('other');
  const admin = world.admin();
  await admin.post('/admin/v1/developers/own/applications', { json: { applicationId: 'second', name: 'second' } });
  const tokens = new Map<MemberRole, string>();
  for (const role of MEMBER_ROLES) {
    const made = await admin.post('/admin/v1/developers/own/members', { json: { name: `The ${role}`, role } });
    t.equal(made.status, 201);
    t.match(made.body.token, /^lapeldev_[\w-]{43}$/);
    tokens.set(role, made.body.token);
  }
  const clientOf = (role: MemberRole) => world.clientWith(tokens.get(role) ?? '');

  await t.test('every route is open to the roles whose scopes permit it, of the own developer only', async (t) => {
    for (const { method, path, scope, name } of GUARDED) {
      for (const role of MEMBER_ROLES) {
        for (const applicationId of [own.applicationId, 'second', other.applicationId, 'nobody']) {
          if (path.endsWith('/feed') || !path.includes('{applicationId}')) continue;
          const target = targetOf(
            { op: '', method, path: path.replace('{applicationId}', applicationId), scope: '' },
            { applicationId },
          );
          const json = name === 'createMember' ? { name: 'x', role: 'reader' } : undefined;
          const answer = await clientOf(role).request(method, target, { json });
          const code = answer.headers['lapel-error-code'];
          const what = `${method} ${target} as ${role}`;
          if (!scopesOf(role).includes(scope ?? ''))
            t.match({ code, ...answer }, { status: 403, code: 'SCOPE_INSUFFICIENT' }, what);
          else if (applicationId === other.applicationId || applicationId === 'nobody')
            t.match({ code, ...answer }, { status: 403, code: 'APPLICATION_FOREIGN' }, what);
          else if (OF_ADMIN.has(name) && role !== 'admin')
            t.match({ code, ...answer }, { status: 403, code: 'ROLE_INSUFFICIENT' }, what);
          else
            t.ok(
              answer.status !== 401 &&
                !['SCOPE_INSUFFICIENT', 'APPLICATION_FOREIGN', 'ROLE_INSUFFICIENT'].includes(String(code)),
              `${what}: ${answer.status} ${String(code)}`,
            );
        }
      }
    }
  });

  await t.test('a path without an application shows devices of the own developer only', async (t) => {
    const [mine, theirs] = [await world.registerDevice('own'), await world.registerDevice('other')];
    const hardware = ({ deviceId }: { deviceId: string }) =>
      clientOf('reader').get(`/v1/devices/${deviceId}/hardware-properties`);
    t.not((await hardware(mine)).headers['lapel-error-code'], 'DEVICE_UNAVAILABLE');
    t.equal((await hardware(theirs)).headers['lapel-error-code'], 'DEVICE_UNAVAILABLE');
    t.equal((await hardware({ deviceId: deviceIdOf(99_998) })).headers['lapel-error-code'], 'DEVICE_UNAVAILABLE');
  });

  await t.test('the token says whose it is, and its use is stored, but not the token', async (t) => {
    const { body } = await clientOf('developer').get(`${own.path}/me`);
    t.match(body, {
      applicationId: own.applicationId,
      developerId: 'own',
      member: { name: 'The developer', role: 'developer' },
    });
    t.same(body.scopes.sort(), [...scopesOf('developer')].sort());
    t.match((await own.api.get(`${own.path}/me`)).body, { member: null, developerId: 'own' });
    t.ok((await clientOf('developer').get(own.path)).body.authenticationKey);
    const looked = (await clientOf('reader').get(own.path)).body;
    t.match(looked, { deviceEvent: own.receiver.url, authenticationKey: undefined }, 'a reader does not see the key');
    await world.idle();
    const { members } = (await admin.get('/admin/v1/developers/own/members')).body;
    t.match(members, [{ name: 'The admin' }, { name: 'The developer', lastUsedAt: /^2026/ }, { name: 'The reader' }]);
    const stored = JSON.stringify(await (await world.raw()).all('SELECT * FROM members'));
    for (const token of tokens.values()) t.notOk(stored.includes(token.slice('lapeldev_'.length)));
  });

  await t.test('the admin lets people of the own developer in and out; nobody else does', async (t) => {
    const json = { name: 'New', role: 'admin' };
    const made = await clientOf('admin').post(`${own.path}/members`, { json });
    t.match(made, { status: 201, headers: { 'cache-control': 'no-store' } });
    t.equal(
      (await clientOf('admin').post(`${own.path}/members`, { json })).headers['lapel-error-code'],
      'MEMBER_EXISTS',
    );
    const fresh = world.clientWith(made.body.token);
    t.equal((await fresh.get(own.path)).status, 200);
    for (const client of [own.api, clientOf('developer')]) {
      const refused = await client.post(`${own.path}/members`, { json: { name: 'x', role: 'reader' } });
      t.match(refused, { status: 403, headers: { 'lapel-error-code': 'ROLE_INSUFFICIENT' } });
    }
    const theirs = await admin.post('/admin/v1/developers/other/members', { json: { name: 'Them', role: 'admin' } });
    const foreign = await fresh.delete(`${own.path}/members/${theirs.body.memberId}`);
    t.match(foreign, { status: 404, headers: { 'lapel-error-code': 'MEMBER_NOT_FOUND' } });
    t.equal((await clientOf('admin').delete(`${own.path}/members/${made.body.memberId}`)).status, 204);
    t.match(await fresh.get(own.path), { status: 401, headers: { 'lapel-error-code': 'TOKEN_INVALID' } }, 'at once');
    const { entries } = (await admin.get('/admin/v1/audit?resource=/members&limit=1')).body;
    t.match(entries, [{ actor: { kind: 'application', displayName: 'The admin' }, status: 204 }]);
    const ownEntries = (await own.api.get(`${own.path}/audit?limit=3`)).body.entries as object[];
    t.match(ownEntries[0], { by: 'application', person: 'The admin', action: /^DELETE/ });
    t.notMatch(JSON.stringify(ownEntries), /lapeldev_/);
  });

  await t.test('what is refused to one person is not counted for another', async (t) => {
    const names = ['Ada', 'Bo'];
    for (const name of names) {
      const { token } = (await admin.post('/admin/v1/developers/own/members', { json: { name, role: 'admin' } })).body;
      const client = world.clientWith(token);
      for (let count = 0; count < 3; count += 1)
        t.equal((await client.patch(own.path, { json: { deviceEvent: 'no address' } })).status, 400);
    }
    world.clock.advance(60_000);
    await world.idle();
    const { entries } = (await admin.get(`/admin/v1/audit?resource=${own.path}&limit=6`)).body;
    const counts = entries
      .filter(({ details }: { details: { repeated?: number } | null }) => details?.repeated !== undefined)
      .map(({ actor, details }: { actor: { displayName: string }; details: { repeated: number } }) => [
        actor.displayName,
        details.repeated,
      ]);
    t.same(counts, [
      ['Bo', 2],
      ['Ada', 2],
    ]);
  });

  await t.test('calls that the role of a person does not permit are in the audit log, with the person', async (t) => {
    const personOf = async (role: string) =>
      (await admin.post('/admin/v1/developers/own/members', { json: { name: role, role } })).body;
    const [reader, developer] = [await personOf('reader'), await personOf('developer')];
    t.equal((await world.clientWith(reader.token).patch(own.path, { json: {} })).status, 403);
    t.equal((await world.clientWith(reader.token).get('/v1/applications/other-app')).status, 403);
    t.equal((await world.clientWith(developer.token).get(`${own.path}/members`)).status, 403);
    world.clock.advance(60_000);
    await world.idle();
    const refusedTo = async (memberId: string): Promise<string[]> => {
      const { entries } = (await admin.get(`/admin/v1/audit?about=person:${memberId}&limit=9`)).body;
      const all = entries as { action: string; details: { code: string } }[];
      return all.flatMap(({ action, details }) => (action === 'REFUSED api' ? details.code : [])).sort();
    };
    t.same(await refusedTo(reader.memberId), ['APPLICATION_FOREIGN', 'SCOPE_INSUFFICIENT']);
    t.same(await refusedTo(developer.memberId), ['ROLE_INSUFFICIENT']);
  });

  await t.test(
    'the command line makes, lists and revokes them, and takes their token in place of the secret',
    async (t) => {
      const { addresses, adminToken } = world.service;
      const env = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
      const cli = (...args: string[]) => run(['admin', 'member', ...args, '--developer', 'own'], { env });
      const made = JSON.parse(
        (await cli('create', '--name', 'Cli', '--role', 'reader', '--days', '7', '--json')).stdout,
      );
      t.match((await cli('list')).stdout, /^MEMBER +ROLE +EXPIRES +USED +NAME\n/);
      const application = {
        LAPEL_URL: addresses.http,
        LAPEL_APPLICATION: 'second',
        LAPEL_APPLICATION_SECRET: made.token,
      };
      t.match(await run(['package', 'list'], { env: application }), { code: 0 });
      const refused = await run(['settings', 'key', '--replace'], { env: application });
      t.match(refused, { code: 1, stderr: /svc:application:write/ });
      t.match(await cli('revoke', made.memberId), { code: 0 });
      t.match(await run(['package', 'list'], { env: application }), { code: 1, stderr: /access token is invalid/ });
    },
  );

  await t.test('an expired, malformed or unknown token is refused, and a stream ends with its token', async (t) => {
    const made = await admin.post('/admin/v1/developers/own/members', {
      json: { name: 'Short', role: 'reader', expiresInDays: 1 },
    });
    const { token, memberId } = made.body;
    const feed = await open(t, `${world.service.addresses.http}${own.path}/feed?topics=transactions`, {
      authorization: `Bearer ${token}`,
    });
    await feed.next('snapshot');
    t.equal((await admin.delete(`/admin/v1/developers/own/members/${memberId}`)).status, 204);
    t.match(await feed.next('bye'), { reason: 'session' }, 'at once');
    const short = await admin.post('/admin/v1/developers/own/members', {
      json: { name: 'Short', role: 'reader', expiresInDays: 1 },
    });
    const client = world.clientWith(short.body.token);
    t.equal((await client.get(own.path)).status, 200);
    world.clock.leap(DAY);
    for (const wrong of [short.body.token, `lapeldev_${'x'.repeat(43)}`, 'lapeldev_', `lapeldev_${'x'.repeat(5000)}`]) {
      const answer = await world.clientWith(wrong).get(own.path);
      t.match(answer, { status: 401, headers: { 'lapel-error-code': 'TOKEN_INVALID' } });
    }
    for (const bad of [0, 367, null])
      t.equal(
        (
          await admin.post('/admin/v1/developers/own/members', {
            json: { name: 'x', role: 'reader', expiresInDays: bad },
          })
        ).status,
        400,
      );
  });

  await t.test('people are bounded, and go with their developer', async (t) => {
    const { members } = (await admin.get('/admin/v1/developers/other/members')).body as { members: object[] };
    const wanted = Array.from({ length: MOST_MEMBERS + 1 - members.length }, (_, count) => `${count}`);
    const made = await Promise.all(
      wanted.map((name) => admin.post('/admin/v1/developers/other/members', { json: { name, role: 'reader' } })),
    );
    const [more, ...others] = made.filter(({ status }) => status !== 201);
    t.match(more, { status: 409, headers: { 'lapel-error-code': 'TOO_MANY_MEMBERS' } });
    t.same(others, [], 'the bound is exact, also for requests at once');
    t.match(String((await world.anonymousAdmin().get('/metrics')).body), 'lapel_http_refused_total{bound="members"} 1');
    const removal = await admin.post('/admin/v1/developers/other/removal', { json: { confirmation: 'other' } });
    const late = await admin.post('/admin/v1/developers/other/members', { json: { name: 'late', role: 'reader' } });
    t.match(late.headers['lapel-error-code'], /DEVELOPER_LEAVING|DEVELOPER_NOT_FOUND/);
    await ended(world, removal.body.removalId);
    const left = await (await world.raw()).all(`SELECT * FROM members WHERE developer_id = 'other'`);
    t.same(left, []);
  });
});

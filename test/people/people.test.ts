import t from 'tap';
import { MOST_PEOPLE, MOST_TOKENS } from '../../src/core/people/people.ts';
import { MOST_SESSIONS } from '../../src/edge/admin/sessions/sessions.ts';
import { open } from '../console/feed-client.ts';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { startWorld } from '../world.ts';
import { addToken, createPerson, pageHeaders, signIn } from './people-world.ts';

const MINUTE = 60_000;
const TOKEN = /^lapel_[\w-]{43}$/;

t.test('people who administer the service', async (t) => {
  const world = await startWorld(t);
  const admin = world.admin();
  const anybody = world.anonymousAdmin();
  const base = world.service.addresses.admin;
  const first = await createPerson(world, { personId: 'ada', role: 'owner' });
  const as = (token: string) => ({ token });

  await t.test('a person has a name, a role, and tokens that are shown once and stored as a hash', async (t) => {
    const made = await admin.post('/admin/v1/people', { json: { name: '<b>Mika</b>', role: 'support' } });
    t.match(made, { status: 201, body: { personId: /^person_[0-9a-f]{32}$/, name: '<b>Mika</b>', disabled: false } });
    const at = `/admin/v1/people/${made.body.personId}`;
    const token = await admin.post(`${at}/tokens`, { json: { name: 'laptop' } });
    t.match(token, {
      status: 201,
      headers: { 'cache-control': 'no-store' },
      body: { token: TOKEN, name: 'laptop', expiresAt: '2027-02-18T09:30:00.123456Z', lastUsedAt: null },
    });
    const read = await admin.get(at);
    t.match(read.body.tokens, [{ tokenId: token.body.tokenId, name: 'laptop' }]);
    const file = await world.raw();
    const stored = JSON.stringify(await file.all('SELECT * FROM person_tokens'));
    for (const text of [JSON.stringify(read.body), stored]) t.notOk(text.includes(token.body.token));
    const listed = (await admin.get('/admin/v1/people?limit=1')).body;
    t.match(listed, { total: 2, people: [{ personId: 'ada', role: 'owner', tokens: 1 }] });
    t.match(await admin.post('/admin/v1/people', { json: { personId: 'ada', name: 'x', role: 'reader' } }), {
      status: 409,
      headers: { 'lapel-error-code': 'PERSON_EXISTS' },
    });
    t.match(await admin.post(`${at}/tokens`, { json: { name: 'laptop' } }), {
      status: 409,
      headers: { 'lapel-error-code': 'PERSON_TOKEN_EXISTS' },
    });
    t.equal((await admin.post('/admin/v1/people', { json: { name: 'x', role: 'root' } })).status, 400);
    t.equal((await admin.delete(at)).status, 204);
    t.equal((await anybody.get('/admin/v1/me', as(token.body.token))).status, 401);
  });

  await t.test('a change with the tag of an older state is refused', async (t) => {
    const { personId } = await createPerson(world, { personId: 'kim', role: 'reader' });
    const at = `/admin/v1/people/${personId}`;
    const tag = String((await admin.get(at)).headers['etag']);
    const headers = { 'if-match': tag };
    t.equal((await admin.patch(at, { json: { role: 'support' }, headers })).status, 200);
    t.equal((await admin.patch(at, { json: { role: 'reader' }, headers })).status, 412);
    t.match((await admin.get(at)).body, { role: 'support' });
  });

  await t.test('the last use of a token is stored once a minute at most', async (t) => {
    const { personId, token } = await createPerson(world, { personId: 'lou', role: 'reader' });
    const lastUse = async () => (await admin.get(`/admin/v1/people/${personId}`)).body.tokens[0].lastUsedAt;
    t.equal(await lastUse(), null);
    const uses = [];
    for (const step of [0, MINUTE - 1, 1]) {
      world.clock.advance(step);
      await anybody.get('/admin/v1/me', as(token));
      await world.idle();
      uses.push(await lastUse());
    }
    t.equal(uses[0], uses[1]);
    t.ok(uses[2] > uses[1]);
  });

  await t.test('a person replaces the secret of a token, which then expires when it would have before', async (t) => {
    const { personId, token } = await createPerson(world, { personId: 'max', role: 'reader', days: 7 });
    const before = (await admin.get(`/admin/v1/people/${personId}`)).body.tokens[0];
    const cookie = await signIn(t, base, token);
    const inSession = { headers: { ...pageHeaders(base), cookie } };
    t.match(await anybody.post('/admin/v1/me/token', inSession), {
      status: 409,
      headers: { 'lapel-error-code': 'OWN_TOKEN_NEEDED' },
    });
    t.equal((await admin.post('/admin/v1/me/token')).status, 409, 'the administrator token is nobody’s');
    world.clock.advance(MINUTE);
    const renewed = await anybody.post('/admin/v1/me/token', as(token));
    t.match(renewed, { status: 201, body: { tokenId: before.tokenId, expiresAt: before.expiresAt, token: TOKEN } });
    t.equal((await anybody.get('/admin/v1/me', as(token))).status, 401, 'the old secret ends');
    t.equal((await anybody.get('/admin/v1/me', inSession)).status, 401, 'with its sessions');
    t.match((await anybody.get('/admin/v1/me', as(renewed.body.token))).body, { personId, role: 'reader' });
  });

  await t.test('people see and end their own sessions, owners those of everybody', async (t) => {
    const { token } = await createPerson(world, { personId: 'ned', role: 'operator' });
    const [own, other] = [await signIn(t, base, token), await signIn(t, base, first.token)];
    const listed = (await anybody.get('/admin/v1/sessions', as(token))).body.sessions;
    t.match(listed, [{ personId: 'ned', name: 'Person ned', own: false }]);
    const all = (await anybody.get('/admin/v1/sessions', as(first.token))).body.sessions as { personId: string }[];
    t.same(all.map(({ personId }) => personId).sort(), ['ada', 'ned']);
    const sessionOf = (personId: string) =>
      (all as unknown as { personId: string; sessionId: string }[]).find((one) => one.personId === personId)?.sessionId;
    t.equal((await anybody.delete(`/admin/v1/sessions/${sessionOf('ada')}`, as(token))).status, 404);
    t.equal((await anybody.delete(`/admin/v1/sessions/${sessionOf('ned')}`, as(token))).status, 204);
    const look = (cookie: string) => anybody.get('/admin/v1/me', { headers: { ...pageHeaders(base), cookie } });
    t.equal((await look(own)).status, 401);
    t.match((await look(other)).body, { personId: 'ada', role: 'owner', token: 'first' });
    t.equal((await anybody.delete(`/admin/v1/sessions/${sessionOf('ada')}`, as(first.token))).status, 204);
  });

  await t.test('many sessions of one person end no session of others, and no older release accepts them', async (t) => {
    const { token } = await createPerson(world, { personId: 'oda', role: 'reader' });
    const others = [await signIn(t, base, first.token), await signIn(t, base, world.service.adminToken)];
    const own = [];
    for (let count = 0; count <= MOST_SESSIONS; count += 1) {
      own.push(await signIn(t, base, token));
      world.clock.advance(1);
    }
    const look = async (cookie: string) =>
      (await anybody.get('/admin/v1/me', { headers: { ...pageHeaders(base), cookie } })).status;
    t.same([await look(own[0]!), await look(own[1]!)], [401, 200], 'the oldest of their own ends');
    for (const cookie of others) t.equal(await look(cookie), 200);
    // Releases without people look for the hash of the administrator token in this column, whose session it then is.
    const rows = await (await world.raw()).all<{ administrator: Buffer; person: string | null }>(
      'SELECT administrator, person_id AS person FROM console_sessions',
    );
    const ofToken = rows.find(({ person }) => person === null)?.administrator;
    const ofPerson = rows.filter(({ person }) => person === 'oda');
    t.equal(ofPerson.length, MOST_SESSIONS);
    for (const { administrator } of ofPerson) t.notSame(administrator, ofToken);
  });

  await t.test('the audit log names the person and the token, also after they are gone', async (t) => {
    const { token } = await createPerson(world, { personId: 'olu', role: 'operator' });
    await anybody.post('/admin/v1/developers', { json: { developerId: 'by-olu', name: 'x' }, token });
    const cookie = await signIn(t, base, token);
    const headers = { ...pageHeaders(base), cookie };
    await anybody.patch('/admin/v1/developers/by-olu', { json: { name: 'y' }, headers });
    t.equal((await admin.delete('/admin/v1/people/olu')).status, 204);
    const { entries } = (await admin.get('/admin/v1/audit?actor=olu')).body;
    const olu = { displayName: 'Person olu', personId: 'olu', token: 'first' };
    t.match(entries, [
      { action: 'PATCH /admin/v1/developers/{developerId}', actor: { kind: 'session', ...olu } },
      { action: 'POST /console/session', actor: { kind: 'session', ...olu } },
      { action: 'POST /admin/v1/developers', actor: { kind: 'token', name: null, ...olu } },
    ]);
    const about = (await admin.get('/admin/v1/audit?about=person:olu')).body.entries;
    t.match(about, [
      { action: 'DELETE /admin/v1/people/{personId}', actor: { kind: 'token', personId: null } },
      { action: 'POST /admin/v1/people/{personId}/tokens', details: { name: 'first' } },
      { action: 'POST /admin/v1/people', details: { name: 'Person olu', role: 'operator' } },
    ]);
  });

  await t.test('a stream ends when its token is revoked, or its person gets another role', async (t) => {
    const { tokenId, token } = await createPerson(world, { personId: 'pam', role: 'operator' });
    const stream = async (given: string) =>
      open(t, `${base}/admin/v1/feed?topics=transactions`, { authorization: `Bearer ${given}` });
    const [one, second] = [await stream(token), await addToken(world, 'pam', { name: 'second' })];
    await one.next('snapshot');
    t.equal((await admin.delete(`/admin/v1/people/pam/tokens/${tokenId}`)).status, 204);
    t.match(await one.next('bye'), { reason: 'session' });
    const two = await stream(second.token);
    await two.next('snapshot');
    t.equal((await admin.patch('/admin/v1/people/pam', { json: { name: 'Pamela' } })).status, 200);
    await world.idle();
    t.equal(two.events.length, 0, 'another name changes no right');
    t.equal((await admin.patch('/admin/v1/people/pam', { json: { role: 'support' } })).status, 200);
    t.match(await two.next('bye'), { reason: 'session' });
  });

  await t.test('there always remains an owner', async (t) => {
    const last = { status: 409, headers: { 'lapel-error-code': 'LAST_OWNER' } };
    for (const json of [{ role: 'operator' }, { disabled: true }, { role: 'reader', disabled: true }])
      t.match(await admin.patch('/admin/v1/people/ada', { json }), last, JSON.stringify(json));
    t.match(await anybody.delete('/admin/v1/people/ada', as(first.token)), last);
    t.match((await admin.get('/admin/v1/people/ada')).body, { role: 'owner', disabled: false });
    const other = await createPerson(world, { personId: 'quin', role: 'owner' });
    t.equal(
      (await anybody.patch('/admin/v1/people/ada', { json: { role: 'reader' }, ...as(other.token) })).status,
      200,
    );
    t.match((await anybody.get('/admin/v1/me', as(first.token))).body, { role: 'reader' }, 'at once');
    t.equal((await anybody.patch('/admin/v1/people/ada', { json: { role: 'owner' }, ...as(other.token) })).status, 200);
    t.equal((await admin.delete('/admin/v1/people/quin')).status, 204);
  });

  await t.test('a refusal of the administrator token that cannot be stored is not said to be done', async (t) => {
    const path = '/admin/v1/administrator-token';
    const mend = await (await world.raw()).breakWrites('UPDATE ON administration');
    t.equal((await anybody.put(path, { json: { accepted: false }, ...as(first.token) })).status, 500);
    await mend();
    t.match(await admin.get(path), { status: 200, body: { accepted: true } });
  });

  await t.test('the administrator token can be refused by an owner with a token of their own', async (t) => {
    const path = '/admin/v1/administrator-token';
    const refuse = { json: { accepted: false } };
    t.match(await admin.put(path, refuse), { status: 409, headers: { 'lapel-error-code': 'OWN_TOKEN_NEEDED' } });
    const cookie = await signIn(t, base, world.service.adminToken);
    const stream = await open(t, `${base}/admin/v1/feed?topics=transactions`, {
      cookie,
      'sec-fetch-site': 'same-origin',
    });
    await stream.next('snapshot');
    t.equal((await anybody.put(path, { ...refuse, ...as(first.token) })).status, 200);
    t.match(await stream.next('bye'), { reason: 'session' });
    t.match(await admin.get('/admin/v1/me'), { status: 401, headers: { 'lapel-error-code': 'ADMIN_TOKEN_INVALID' } });
    const inSession = { headers: { ...pageHeaders(base), cookie } };
    t.match(await anybody.get('/admin/v1/me', inSession), { headers: { 'lapel-error-code': 'SESSION_ENDED' } });
    const revoke = await anybody.delete(`/admin/v1/people/ada/tokens/${first.tokenId}`, as(first.token));
    t.match(revoke, { status: 409, headers: { 'lapel-error-code': 'LAST_OWNER' } }, 'the last way in stays');
    // With PostgreSQL the clock that stands still is an alarm, too.
    const alarms = async () =>
      (await anybody.get('/admin/v1/fleet/alarms', as(first.token))).body.alarms.filter(
        ({ kind }: { kind: string }) => kind === 'people',
      );
    t.same(await alarms(), []);
    world.clock.leap(80 * 24 * 60 * MINUTE);
    t.match(await alarms(), [{ kind: 'people', level: 'warning', text: /expires in 9 days/ }]);
    await world.restart();
    const later = world.anonymousAdmin();
    t.equal((await world.admin().get(path)).status, 401, 'also after a restart');
    t.equal((await later.put(path, { json: { accepted: true }, ...as(first.token) })).status, 200);
    t.match((await world.admin().get(path)).body, { accepted: true });
  });

  await t.test('people and their tokens are bounded', async (t) => {
    const owner = world.admin();
    for (let count = 1; count < MOST_TOKENS; count += 1) await addToken(world, 'ada', { name: `${count}` });
    const more = await owner.post('/admin/v1/people/ada/tokens', { json: { name: 'more' } });
    t.match(more, {
      status: 409,
      body: { message: `the person has ${MOST_TOKENS} tokens and may not have more; revoke some first.` },
    });
    const file = await world.raw();
    const known = (await owner.get('/admin/v1/people')).body.total;
    for (let count = known; count < MOST_PEOPLE; count += 1)
      await file.exec(
        `INSERT INTO people (person_id, name, role, disabled, created_at) VALUES ('filler-${count}', 'x', 'reader', 0, 0)`,
      );
    const another = await owner.post('/admin/v1/people', { json: { name: 'x', role: 'reader' } });
    t.match(another, { status: 409, headers: { 'lapel-error-code': 'TOO_MANY_PEOPLE' } });
    const metrics = String((await world.anonymousAdmin().get('/metrics')).body);
    for (const bound of ['people', 'person_tokens']) t.match(metrics, `lapel_http_refused_total{bound="${bound}"} 1`);
  });
});

for (const database of ['sqlite', 'postgres'] as const) {
  const skip = database === 'postgres' && NO_POSTGRES;
  t.test(`of two owners who demote each other at once, one stays (${database})`, { skip }, async (t) => {
    const world = await startWorld(t, { database });
    const admin = world.admin();
    for (const personId of ['ada', 'bob']) await createPerson(world, { personId, role: 'owner' });
    for (let round = 0; round < 5; round += 1) {
      const demote = (personId: string) => admin.patch(`/admin/v1/people/${personId}`, { json: { role: 'reader' } });
      const answers = await Promise.all([demote('ada'), demote('bob')]);
      t.same(new Set(answers.map(({ status }) => status)), new Set([200, 409]));
      const people = (await admin.get('/admin/v1/people')).body.people as { role: string }[];
      t.equal(people.filter(({ role }) => role === 'owner').length, 1);
      for (const personId of ['ada', 'bob'])
        await admin.patch(`/admin/v1/people/${personId}`, { json: { role: 'owner' } });
    }
  });
}

t.test('a revoked token, session or role ends on every node, with its streams', { skip: NO_POSTGRES }, async (t) => {
  const world = await startWorld(t, { nodes: 2 });
  const [here = '', there = ''] = world.nodes.map(({ addresses }) => addresses.admin);
  const admin = world.admin();
  const { token, tokenId } = await createPerson(world, { personId: 'eve', role: 'operator' });
  const cookie = await signIn(t, there, token);
  const page = { cookie, 'sec-fetch-site': 'same-origin' };
  const streams = [
    await open(t, `${there}/admin/v1/feed?topics=transactions`, { authorization: `Bearer ${token}` }),
    await open(t, `${there}/admin/v1/feed?topics=transactions`, page),
    await open(t, `${here}/admin/v1/feed?topics=transactions`, page),
  ];
  for (const stream of streams) await stream.next('snapshot');
  t.equal((await admin.delete(`/admin/v1/people/eve/tokens/${tokenId}`)).status, 204);
  // The clock stands still, so no regular check ends them: the hint to the other node does.
  for (const stream of streams) t.match(await stream.next('bye'), { reason: 'session' });
  for (const base of [here, there]) {
    const again = await open(t, `${base}/admin/v1/feed?topics=transactions`, page);
    t.equal(again.status, 401);
  }
});

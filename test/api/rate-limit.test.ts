import t from 'tap';
import { startWorld } from '../world.ts';

t.test('the rate limit of an application', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_RATE_LIMIT: '5' } });
  const busy = await world.createTenant('busy', { key: false, deviceEvent: false });
  const quiet = await world.createTenant('quiet', { key: false, deviceEvent: false });
  const ask = () => busy.api.get(busy.path);

  t.test('twice the limit is answered at once, and each answer says how many requests are left', async (t) => {
    const answers = [];
    for (let count = 0; count < 10; count += 1) answers.push(await ask());
    t.same([...new Set(answers.map(({ status }) => status))], [200]);
    t.equal(answers[0]?.headers['ratelimit-policy'], '"requests";q=10;w=2');
    t.equal(answers[0]?.headers['ratelimit'], '"requests";r=9;t=1');
    t.equal(answers[9]?.headers['ratelimit'], '"requests";r=0;t=2');
  });

  t.test('a further request is answered 429 with Retry-After, whatever its operation', async (t) => {
    const refused = { status: 429, body: { message: 'too many requests; try again in 1 s.' } };
    const answer = await ask();
    t.match(answer, refused);
    t.match(answer.headers, { 'retry-after': '1', ratelimit: '"requests";r=0;t=2' });
    t.match(await busy.api.get(`${busy.path}/packages?limit=x`), refused, 'before the query is looked at');
  });

  t.test('another application is not affected, nor is a request without a token', async (t) => {
    t.match(await quiet.api.get(quiet.path), { status: 200, headers: { ratelimit: '"requests";r=9;t=1' } });
    const answer = await world.anonymous().get(busy.path);
    t.match(answer, { status: 401, headers: { ratelimit: undefined } });
  });

  t.test('a second later as many further requests as the limit are answered', async (t) => {
    world.clock.advance(1000);
    const answers = [];
    for (let count = 0; count < 6; count += 1) answers.push((await ask()).status);
    t.same(answers, [200, 200, 200, 200, 200, 429]);
    world.clock.advance(600_000);
    t.match((await ask()).headers, { ratelimit: '"requests";r=9;t=1' }, 'and never more than twice the limit');
  });

  t.test('each refusal is counted', async (t) => {
    const text = (await world.anonymousAdmin().get('/metrics')).body as string;
    t.match(text, /lapel_http_refused_total\{bound="rate_limit"\} 3\n/);
  });
});

t.test('the rate limit of the token endpoint', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_TOKEN_RATE_LIMIT: '2' } });
  const { applicationId, secret } = await world.createTenant('busy', { key: false, deviceEvent: false });
  const ask = (user: string, password: string) =>
    world.anonymous().post('/api/v1/authenticate', {
      headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
      form: { grant_type: 'client_credentials', scope: 'svc:device:read' },
    });
  const statuses = async (count: number, password = secret): Promise<number[]> => {
    const answers = [];
    for (let index = 0; index < count; index += 1) answers.push((await ask(applicationId, password)).status);
    return answers;
  };

  t.test('requests with wrong secrets do not use up the limit of the application', async (t) => {
    t.same(await statuses(9, 'a guess'), Array(9).fill(401));
    t.same(await statuses(1), [200]);
  });

  t.test('an application with too many requests gets a Retry-After', async (t) => {
    world.clock.advance(60_000);
    t.same(await statuses(4), [200, 200, 200, 200]);
    const answer = await ask(applicationId, secret);
    t.match(answer, { status: 429, body: { error: 'temporarily_unavailable' }, headers: { 'retry-after': '1' } });
    t.equal(answer.headers['ratelimit-policy'], '"tokens";q=4;w=2');
    world.clock.advance(500);
    t.same(await statuses(2), [200, 429]);
    const text = (await world.anonymousAdmin().get('/metrics')).body as string;
    t.match(text, /lapel_http_refused_total\{bound="token_rate_limit"\} 2\n/);
  });
});

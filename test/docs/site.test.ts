import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import { GUIDES } from '../../src/edge/docs/make/site/places.ts';
import { missing } from '../installed.ts';
import { runProgram } from '../run-program.ts';
import { startWorld } from '../world.ts';

interface Documented {
  operationId?: string;
  'x-codeSamples': { label: string; source: string }[];
}
interface Webhook {
  post: {
    parameters: { name: string; required: boolean }[];
    requestBody: { content: Record<string, { schema: object; example?: unknown }> };
  };
}

const ROOT = join(import.meta.dirname, '../..');

t.test('the site has every document but the decisions, and every link to a place on a page leads to one', async (t) => {
  const documents = [
    ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
    ...readdirSync(join(ROOT, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
    'client/README.md',
  ];
  t.same(GUIDES.map(({ file }) => file).sort(), documents.sort());
  const folder = t.testdir();
  const { status, stdout, stderr } = await runProgram(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(ROOT, 'src/main.ts'),
      'docs',
      folder,
      '--public-url',
      'https://lapel.test',
    ],
    { env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] } },
  );
  t.equal(status, 0, stderr);
  const files = readdirSync(folder);
  const names = files.filter((name) => name.endsWith('.html'));
  t.match(stdout, `${names.length} pages are in ${folder}`);
  const texts = new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  const ids = new Map(
    [...texts].map(([name, text]) => [name, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  for (const [name, text] of texts) {
    for (const [, page = '', anchor = ''] of text.matchAll(/ href="([\w-]+\.html)?#([^"]+)"/g))
      t.ok(ids.get(page === '' ? name : page)?.has(anchor), `${name}: ${page}#${anchor}`);
    t.notMatch(text, 'href="try', 'a folder has no page that makes calls');
  }
  const api = texts.get('api-devices.html') ?? '';
  t.match(api, 'https://lapel.test/v1/applications/patrol/devices');
  const parts = files.filter((name) => /^api-.+\.json$/.test(name));
  t.same(
    parts,
    files.filter((name) => /^api-.+\.html$/.test(name)).map((name) => name.replace('.html', '.json')),
  );
  t.same(files.filter((name) => !/\.(?:html|md)$/.test(name) && !parts.includes(name)).sort(), [
    'asyncapi.json',
    'colours.css',
    'frame.css',
    'lapel.css',
    'llms.txt',
    'openapi.json',
    'reference.css',
    'search-index.js',
    'search.js',
    'site.js',
  ]);
});

t.test('a service with the documents in its time zone', async (t) => {
  // One service for all, because making the documents takes more than a second.
  const world = await startWorld(t, { env: { LAPEL_TIME_ZONE: 'Asia/Tokyo' } });

  await t.test('the reference has each operation once, with its calls, and each shared answer once', async (t) => {
    const anonymous = world.anonymous();
    const { body: document } = await anonymous.get('/openapi.json');
    const pages: string[] = [];
    for (const { name } of document.tags)
      pages.push((await anonymous.get(`/docs/api-${name.toLowerCase().replaceAll(' ', '-')}`)).body);
    const all = pages.join('\n');
    const { body: overview } = (await anonymous.get('/docs/api')) as { body: string };
    for (const [path, item] of Object.entries<Record<string, Documented>>(document.paths)) {
      for (const [method, operation] of Object.entries(item)) {
        if (operation.operationId === undefined) continue;
        const [, ...articles] = all.split(`<article class="operation" id="${operation.operationId}">`);
        t.equal(articles.length, 1, operation.operationId);
        const [article = ''] = (articles[0] ?? '').split('</article>');
        t.match(article, `<strong>${method.toUpperCase()}</strong> <code>${path}</code>`);
        for (const { label } of operation['x-codeSamples']) t.match(article, `data-of="${label}"`);
        t.match(overview, `#${operation.operationId}"`);
      }
    }
    for (const name of Object.keys(document.components.responses))
      t.equal(overview.split(`<section id="${name}">`).length, 2, name);
    t.equal(document.info['x-time-zone'], 'Asia/Tokyo');
    t.match(overview, 'Asia/Tokyo');

    const codes: string[] = document.components.headers.ErrorCode.schema.enum;
    t.same(codes, Object.keys(ERRORS));
    const { body: errors } = await anonymous.get('/docs/errors');
    for (const code of codes) t.match(errors, `id="${code}"`);
  });

  await t.test('the section of webhooks has the messages of the AsyncAPI document, with their schemas', async (t) => {
    const anonymous = world.anonymous();
    const { body: document } = await anonymous.get('/openapi.json');
    const { body: messages } = await anonymous.get('/asyncapi.json');
    const sent = ['webhooks', 'uploadUrls'].flatMap((channel) => Object.keys(messages.channels[channel].messages));
    const answers = ['uploadUrlAnswer', 'uploadUrlsAnswer'];
    t.same(
      Object.keys(document.webhooks),
      sent.filter((name) => name !== 'envelope' && !answers.includes(name)),
    );
    for (const [name, { post }] of Object.entries<Webhook>(document.webhooks)) {
      const media = post.requestBody.content;
      const { payload, examples } = messages.components.messages[name];
      t.same(media['application/json']?.schema, payload.schema, name);
      t.same(media['application/json']?.example, examples?.[0]?.payload, name);
      t.same(
        post.parameters.filter(({ required }) => required).map((one) => one.name),
        ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
      );
    }
  });

  await t.test('the root leads a browser to the documents or to the console, and is no path for others', async (t) => {
    const { http, admin } = world.service.addresses;
    for (const [base, page] of [
      [http, 'docs'],
      [admin, 'console'],
    ] as const) {
      const asked = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
      const answer = await fetch(`${base}/`, { ...asked, redirect: 'manual' });
      t.match({ status: answer.status, location: answer.headers.get('location') }, { status: 303, location: page });
      t.equal(answer.headers.get('vary'), 'Accept');
      t.match(await fetch(`${base}/`, asked), { status: 200, url: `${base}/${page}` });
      for (const accept of ['*/*', 'application/json'])
        t.equal((await fetch(`${base}/`, { headers: { accept } })).status, 403, accept);
      t.equal((await fetch(`${base}/`, { method: 'POST', headers: asked.headers })).status, 403);
      if (page === 'docs')
        t.match(
          await fetch(`${base}/docs/`, asked),
          { status: 200, url: `${base}/docs` },
          'also with a slash at its end',
        );
    }
  });

  await t.test(
    'answers with local times name their zone, and deliveries are selected by either form of time',
    async (t) => {
      const tenant = await world.createTenant();
      await tenant.api.post(`${tenant.path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
      await tenant.event();
      const list = `${tenant.path}/webhooks/deliveries`;
      const { headers, body } = await tenant.api.get(list);
      t.equal(headers['lapel-time-zone'], 'Asia/Tokyo');
      const [{ createdAt: local }] = body.deliveries;
      const utc = new Date(Date.parse(`${local.slice(0, 23)}+09:00`)).toISOString();
      t.notOk(local.endsWith('Z'));
      const ofOperator = await world.admin().get('/admin/v1/devices');
      t.equal(ofOperator.headers['lapel-time-zone'], 'Asia/Tokyo');
      for (const since of [local, local.slice(0, 19), utc, utc.replace(/\.\d+/, '')]) {
        t.equal((await tenant.api.get(`${list}?since=${since}`)).body.deliveries.length, 1, since);
        t.equal(
          (await tenant.api.get(`${list}?until=${since.replace(/:\d\d[.\d]*/, ':00')}`)).body.deliveries.length,
          0,
          since,
        );
        const sent = tenant.receiver.requests.length;
        const counted = await tenant.api.post(`${list}/redeliver`, {
          json: { since, status: 'delivered', dryRun: true },
        });
        t.match(counted, { status: 202, body: { redelivered: 1 } }, since);
        await world.idle();
        t.equal(tenant.receiver.requests.length, sent, 'a range that is counted is not sent');
        const range = await tenant.api.post(`${list}/redeliver`, { json: { since, status: 'delivered' } });
        t.match(range, { status: 202, body: { redelivered: 1 } }, since);
        await tenant.event();
      }
      const later = utc.replace(/^\d{4}/, '2199');
      t.equal((await tenant.api.get(`${list}?since=${later}`)).body.deliveries.length, 0);
      for (const wrong of ['2026-02-30T00:00:00Z', '2026-02-30T00:00:00', '2026-11-20', '2026-11-20T09:30:00+09:00']) {
        t.equal((await tenant.api.get(`${list}?since=${encodeURIComponent(wrong)}`)).status, 400, wrong);
        t.equal((await tenant.api.post(`${list}/redeliver`, { json: { since: wrong } })).status, 400, wrong);
      }
    },
  );

  await t.test('the service understands every example with curl', { skip: missing.curl() }, async (t) => {
    const tenant = await world.createTenant('curl');
    const { body: document } = await world.anonymous().get('/openapi.json');
    const operations = Object.values<Record<string, Documented>>(document.paths).flatMap(Object.values) as Documented[];
    const calls = operations
      .filter(({ 'x-codeSamples': samples }) => samples !== undefined)
      // The stream does not end by itself.
      .filter(({ operationId }) => operationId !== 'readFeed')
      .map(({ operationId, 'x-codeSamples': [curl] }) => {
        const source = curl!.source.replaceAll('patrol', tenant.applicationId);
        const written = '%{http_code} %header{lapel-error-code}\\n';
        return source.replace('curl ', `printf '${operationId} '; curl -s -o /dev/null -w '${written}' `);
      });
    t.ok(calls.length >= 60);
    const token = await world.tokenOf(tenant.applicationId, tenant.secret);
    const { stdout, stderr } = await runProgram('bash', ['-c', calls.join('\n')], {
      env: { PATH: process.env['PATH'], TOKEN: token, SECRET: tenant.secret },
    });
    t.equal(stderr, '');
    const answers = stdout.trim().split('\n');
    t.equal(answers.length, calls.length);
    // The packages, rollouts, deliveries and codes of the examples do not exist here.
    const refused = answers.filter(
      (line) =>
        !/ (2\d\d $|2\d\d$|403 (?:DEVICE_|ENROLMENT_REFUSED$|ROLE_INSUFFICIENT$)|404 \w+_NOT_FOUND$)/.test(line),
    );
    t.same(refused, []);
  });
});

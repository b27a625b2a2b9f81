import { DEPRECATIONS } from '@lapel/schemas/contracts/deprecations';
import t from 'tap';
import { createDocs } from '../../src/edge/docs/docs.ts';
import { isKnown, takesGzip } from '../../src/edge/docs/file.ts';
import { html, prose } from '../../src/edge/docs/html.ts';
import { linksOfFolder } from '../../src/edge/docs/links.ts';
import { siteLink } from '../../src/edge/docs/make/site/links.ts';
import { readMarkdown } from '../../src/edge/docs/make/site/markdown.ts';
import { fill } from '../../src/edge/docs/slots.ts';
import { startWorld } from '../world.ts';

/** The types of files by their endings. */
const KINDS: Record<string, string> = {
  '': 'text/html',
  '.json': 'application/json',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.md': 'text/markdown',
};

/** Every value of a key, however deep. */
function valuesOf(node: unknown, key: string): unknown[] {
  if (typeof node !== 'object' || node === null) return [];
  const own = Object.entries(node).flatMap(([name, value]) => (name === key ? [value] : []));
  return [...own, ...Object.values(node).flatMap((value) => valuesOf(value, key))];
}

function target(document: object, reference: string): unknown {
  let node: unknown = document;
  for (const part of reference.slice(2).split('/')) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    node = (node as Record<string, unknown> | undefined)?.[name];
  }
  return node;
}

t.test('documents and reference at the newest release', async (t) => {
  const world = await startWorld(t);
  const anonymous = world.anonymous();
  const base = world.service.addresses.http;
  const addresses = (page: string): string[] =>
    [...page.matchAll(/ (?:src|href|data-index)="([^"#:]+)[^":]*"/g)].map(([, link = '']) => link);
  /** All pages and files that can be reached from the first page, as paths of the service. */
  const paths = new Set(['/docs']);
  for (const path of paths) {
    if (!/^\/docs(\/[a-z-]+)?$/.test(path)) continue;
    const { body } = await anonymous.get(path);
    for (const link of addresses(body)) paths.add(new URL(link, base + path).pathname);
  }
  const pages = [...paths].filter((path) => /^\/docs(\/[a-z-]+)?$/.test(path));

  t.test('both documents are complete: every reference leads to a place in them', async (t) => {
    for (const path of ['/openapi.json', '/asyncapi.json']) {
      const { body } = await anonymous.get(path);
      const references = valuesOf(body, '$ref') as string[];
      t.ok(references.length > 100, path);
      const lost = references.filter((one) => !one.startsWith('#/') || target(body, one) === undefined);
      t.same(lost, [], path);
      for (const key of [
        '$schema',
        '$id',
        'tsType',
        'settingUrl',
        'minUtf8Bytes',
        'maxUtf8Bytes',
        'maxDepth',
        'x-internal',
        'x-while-served',
      ]) {
        t.same(valuesOf(body, key), [], `${path} ${key}`);
      }
    }
  });

  t.test('each parameter of the reference says where it stands', async (t) => {
    const all = await Promise.all(pages.map(async (path) => String((await anonymous.get(path)).body)));
    const places = all.flatMap((page) => [...page.matchAll(/string in (\w*)/g)].map(([, place]) => place));
    t.ok(places.length > 100);
    t.same(new Set(places), new Set(['header', 'path', 'query']));
  });

  t.test('an example of the typed client takes an answer where there is one, and only there', async (t) => {
    type Answers = Record<string, { content?: Record<string, unknown> }>;
    type Sampled = { operationId: string; responses: Answers; 'x-codeSamples'?: { source: string }[] };
    const { body: api } = await anonymous.get('/openapi.json');
    const operations = Object.values(api.paths as Record<string, object>).flatMap((path) =>
      Object.values<Partial<Sampled>>(path as Record<string, Partial<Sampled>>),
    );
    let without = 0;
    for (const { operationId, responses = {}, 'x-codeSamples': samples = [] } of operations) {
      const sample = samples.find(({ source }) => source.includes(`lapel.${operationId}(`))?.source;
      if (sample === undefined) continue;
      const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      const hasAnswer = good.some(([, { content = {} }]) => 'application/json' in content);
      t.equal(sample.includes('const answer = '), hasAnswer, sample);
      if (!hasAnswer) without += 1;
    }
    t.ok(without >= 5);
  });

  t.test('they have the addresses of the service', async (t) => {
    const { body: api } = await anonymous.get('/openapi.json');
    t.equal(api.servers[0].url, base);
    const { clientCredentials } = api.components.securitySchemes.applicationToken.flows;
    t.equal(clientCredentials.tokenUrl, `${base}/api/v1/authenticate`);
    const { body: messages } = await anonymous.get('/asyncapi.json');
    t.equal(`mqtt://${messages.servers.mqtt.host}`, world.service.addresses.mqtt);
  });

  t.test('they have no removed fields, and no headers and components for them', async (t) => {
    const { body: api } = await anonymous.get('/openapi.json');
    const { body: messages } = await anonymous.get('/asyncapi.json');
    for (const name of Object.keys(DEPRECATIONS)) t.same(valuesOf([api, messages], name), [], name);
    t.same(valuesOf([api, messages], 'deprecated'), []);
    t.same(
      Object.keys(api.components.headers).filter((name) => /Deprecation|Sunset/.test(name)),
      [],
    );
    t.notOk(
      Object.keys(api.paths).some((path) => /\.(css|js)$/.test(path)),
      'the files of the pages are nobody’s interface',
    );
  });

  t.test('each file is answered 200 with its type, 304 if it is up to date, and HEAD without its body', async (t) => {
    for (const path of paths) {
      const answer = await fetch(`${base}${path}`, { headers: { 'accept-encoding': 'identity' } });
      const text = await answer.text();
      const type = String(answer.headers.get('content-type'));
      const kind = KINDS[/\.\w+$/.exec(path)?.[0] ?? ''];
      t.equal(type, `${kind}; charset=utf-8`, path);
      t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      t.match(answer.headers.get('cache-control'), 'no-cache');
      const etag = String(answer.headers.get('etag'));
      const known = await anonymous.get(path, { headers: { 'if-none-match': `"other", ${etag}` } });
      t.match(known, { status: 304, body: undefined, headers: { etag } }, path);
      const head = await fetch(`${base}${path}`, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
      t.equal(head.status, 200, path);
      t.equal(await head.text(), '');
      t.equal(head.headers.get('content-length'), String(Buffer.byteLength(text)), path);
      t.equal(head.headers.get('etag'), etag);
      const packed = await fetch(`${base}${path}`, { headers: { 'accept-encoding': 'gzip' } });
      t.equal(packed.headers.get('content-encoding'), 'gzip', path);
      t.equal(await packed.text(), text, `${path} unpacked`);
    }
  });

  t.test('a page may load from this service only', async (t) => {
    for (const path of pages) {
      const { headers, body } = await anonymous.get(path);
      t.match(headers['content-security-policy'], /^default-src 'none'; script-src 'self'; style-src 'self'; /, path);
      t.notMatch(headers['content-security-policy'], /unsafe|http|\*/, path);
      t.notMatch(body, /(src=|<link [^>]*href=)"(https?:)?\/\//, `${path} loads nothing from another host`);
      t.notMatch(body, /<script>|<style|style="| on[a-z]+="/, `${path} has nothing inline`);
    }
  });

  t.test('every link of a page leads to a file of this service, also below the path of a proxy', async (t) => {
    for (const path of pages) {
      const { body } = await anonymous.get(path);
      const links = addresses(body);
      t.ok(links.length >= 30, path);
      for (const link of new Set(links)) {
        const { pathname } = new URL(link, `${base}/devices/broker${path}`);
        t.ok(pathname.startsWith('/devices/broker/'), `${path} ${link}`);
        t.ok(paths.has(pathname.slice('/devices/broker'.length)), `${path} ${link}`);
      }
    }
  });

  t.test('a path of another page is answered 404, and one that no page can have is a wrong URL', async (t) => {
    for (const [path, message] of [
      ['/docs/index.html', 'file not found.'],
      ['/docs/package.json', 'file not found.'],
      ['/docs/try', 'file not found.'],
      ['/docs/try.js.map', 'file not found.'],
      ['/docs/api-', 'file not found.'],
      ['/docs/constructor', 'file not found.'],
      ['/docs/..%2fpackage.json', 'invalid path parameter.'],
      ['/docs/lapel.css%00', 'invalid path parameter.'],
      ['/docs/__proto__', 'invalid path parameter.'],
    ] as const) {
      t.match(await anonymous.get(path), { status: 404, body: { reason: message } }, path);
    }
    for (const path of [
      '/docs/',
      '/docs/../package.json',
      '/docs/%2e%2e/package.json',
      '/docs/lapel.css/',
      '/docs/files/lapel.css',
      '/openapi.yaml',
    ]) {
      t.match(await anonymous.get(path), { status: 403, body: { message: 'wrong url.' } }, path);
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      t.equal((await anonymous.request(method, '/docs')).status, 403, method);
    }
    t.equal((await anonymous.request('HEAD', '/.well-known/jwks.json')).status, 403, 'HEAD is for documents only');
  });

  t.test(
    'the page of events shows parameters and result of every operation, and the bounds of every field',
    async (t) => {
      const { body: messages } = await anonymous.get('/asyncapi.json');
      const { body: page } = (await anonymous.get('/docs/events')) as { body: string };
      const { schemas } = messages.components;
      const operations: Record<string, { parameters: object; result?: { $ref: string } }> =
        messages.components.messages.command['x-operations'];
      t.same(new Set(Object.keys(operations)), new Set(schemas.Command.properties.operation.enum));
      for (const [name, { result }] of Object.entries(operations)) {
        const [, section = ''] = page.split(`<section id="operation-${name}">`);
        const title = result?.$ref.split('/').at(-1) ?? '';
        t.equal(result === undefined, name === 'cancel', name);
        if (!result) continue;
        const [, ofResult = ''] = section.split('</section>')[0]!.split('<h5>Result</h5>');
        for (const field of Object.keys(schemas[title].properties)) t.match(ofResult, `<code>${field}</code>`, name);
      }
      for (const [topic, qos] of [
        ['commands', 1],
        ['acks', 1],
        ['errors', 1],
      ] as const) {
        t.match(page, new RegExp(`id="${topic}".*?QoS ${qos}`, 's'));
      }
      for (const topic of ['commands', 'acks', 'status', 'events', 'requests']) {
        t.match(messages.channels[topic].description, /On repetition: /, topic);
      }
      for (const limit of [
        '0 to 100',
        '1 to 128 characters',
        'at most 65536 bytes of JSON',
        'at most 32768 bytes of JSON',
        'ISO 8601 with an offset',
        'at most 1000 entries',
        '1 to 100 entries',
        'at most 32 bytes of UTF-8',
      ]) {
        t.match(page, limit);
      }
    },
  );

  t.test('the page of events has every topic, webhook and message; that of deprecations every row', async (t) => {
    const { body: messages } = await anonymous.get('/asyncapi.json');
    const { body: page } = await anonymous.get('/docs/events');
    for (const [id, { address }] of Object.entries(messages.channels) as [string, { address?: string }][]) {
      t.match(page, `id="${id}"`);
      if (address !== undefined) t.match(page, `>${address}<`);
    }
    for (const id of Object.keys(messages.components.messages)) t.match(page, `id="${id}"`);
    const { body: deprecations } = await anonymous.get('/docs/deprecations');
    for (const [name, { release }] of Object.entries(DEPRECATIONS))
      t.match(deprecations, new RegExp(`id="${name}".*${release}`, 's'));
    t.notMatch(deprecations, 'still served');
  });
});

t.test('at a release that still serves them, deprecated parts are marked in the documents', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_API_RELEASE: '2026-08' } });
  const anonymous = world.anonymous();
  const { body: api } = await anonymous.get('/openapi.json');
  const { body: messages } = await anonymous.get('/asyncapi.json');
  const { schemas } = api.components;
  t.match(schemas.ApplicationSettings.properties.remoteSupportEvent, { deprecated: true });
  t.match(schemas.DistributionStatus.properties.exist, { deprecated: true });
  const { data } = messages.components.schemas.RecordingSaved.properties;
  t.match(data.properties.connections.items.properties.webmFile, { deprecated: true });
  const read = api.paths['/v1/applications/{applicationId}'].get.responses[200].headers;
  t.match(Object.keys(read), ['X-Request-Id', 'ETag', 'Cache-Control', 'Deprecation', 'Sunset', 'Link']);
  t.match((await anonymous.get('/docs/deprecations')).body, /id="exist".*still served/s);
  t.match((await anonymous.get('/docs/events')).body, /webmFile<\/code>.*>deprecated</s);
});

t.test('If-None-Match and Accept-Encoding follow HTTP', async (t) => {
  const etag = 'W/"a"';
  for (const given of ['W/"a"', '"a"', '*', '"b", W/"a"', ' "b" , "a" ']) t.ok(isKnown(given, { etag }), given);
  for (const given of [undefined, '', '"b"', 'a', 'W/"ab"']) t.notOk(isKnown(given, { etag }), String(given));
  for (const given of ['gzip', 'br, gzip', 'gzip;q=0.5', 'deflate, GZIP ; q=1.0']) t.ok(takesGzip(given), given);
  for (const given of [undefined, '', 'br', 'gzip;q=0', 'gzip; q=0.0', 'x-gzip'])
    t.notOk(takesGzip(given), String(given));
});

t.test('text is escaped when it becomes HTML', async (t) => {
  t.equal(
    html`<p title="${'"'}">${'<b>&'}${html`<i>${"'"}</i>`}</p>`.html,
    '<p title="&quot;">&lt;b&gt;&amp;<i>&#39;</i></p>',
  );
  t.equal(prose('`a<b`\n\nc').html, '<code>a&lt;b</code></p><p>c');
});

t.test('a document brings no HTML of its own but anchors, and links to the site or to the web only', async (t) => {
  const linkTo = (link: string) => siteLink(link, 'docs/qa.md');
  const read = (text: string): string =>
    fill(readMarkdown(text, { linkTo }).content.html.trim(), { page: linksOfFolder('x.html').page });
  t.equal(read('<a id="login"></a>x'), '<p><a id="login"></a>x</p>');
  t.equal(read('<!-- errors -->'), '');
  t.equal(read('a <b onclick="x">b'), '<p>a &lt;b onclick=&quot;x&quot;&gt;b</p>');
  t.equal(read('<script>x</script>'), '&lt;script&gt;x&lt;/script&gt;');
  t.equal(read('```\n</code><b>\n```'), '<pre tabindex="0"><code>&lt;/code&gt;&lt;b&gt;</code></pre>');
  t.equal(read('[x](javascript:alert)'), '<p>x</p>');
  t.equal(read('[x](../src/main.ts) ![y](z.png)'), '<p>x y</p>');
  t.equal(
    read('[x](errors.md#all-codes) [y](../README.md) [z](https://example.com)'),
    '<p><a href="errors.html#all-codes">x</a> <a href="overview.html">y</a> <a href="https://example.com">z</a></p>',
  );
});

t.test('documents are made once, after a failure again, and the event loop goes on meanwhile', async (t) => {
  let made = 0;
  const docs = createDocs({
    apiRelease: '2026-09', // no other test of this process has had the site made at this release
    timeZone: 'UTC',
    publicUrl: () => 'https://lapel.example',
    mqttUrls: () => {
      made += 1;
      if (made === 1) throw new Error('not yet');
      return ['mqtts://lapel.example'];
    },
  });
  await t.rejects(docs.find('/docs/events'), { message: 'not yet' });
  let turns = 0;
  let isMade = false;
  const turn = (): void => {
    turns += 1;
    if (!isMade) setImmediate(turn);
  };
  turn();
  const files = ['/openapi.json', '/docs/search-index.js'];
  for (const path of files) t.ok((await docs.find(path)).bytes.length > 1000, path);
  isMade = true;
  t.ok(turns > 20, `${turns} turns; to make them here would take some ten, each a part of a second long`);
  for (const path of ['/docs/events', '/asyncapi.json', ...files])
    t.ok((await docs.find(path)).bytes.length > 1000, path);
  t.equal(made, 5, 'each of the four once, and the first one again');
});

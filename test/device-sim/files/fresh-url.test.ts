import { once } from 'node:events';
import t from 'tap';
import { wifi } from '../plain-broker.ts';
import { apk, bench, first, HALF, order } from './download-bench.ts';
import { type FileServer, refuse } from './file-server.ts';

t.test('with an expired URL the device asks for a fresh one, and continues with that', async (t) => {
  await using parts = await bench(t.testdir());
  const { server } = parts;
  const passage = once(parts.device.events, 'download');
  server.script.push(server.partly(HALF), refuse(403));
  parts.send(1, 'installSoftware', order(server));
  await parts.progress(1, 50);
  server.cut();
  const { requestId, ...request } = await parts.request();
  t.strictSame(request, { type: 'softwareDownloadUrl', data: { transactionId: 1 } });
  parts.respond({ requestId: 'of somebody else', data: server.source('/wrong') });
  parts.respond({ requestId, data: server.source('/fresh') });
  t.match(await parts.answer(1), { status: 'succeeded' });
  t.match(server.requests[2], { path: '/fresh', range: `bytes=${HALF}-` });
  t.strictSame(await passage, [{ bytes: first.length, resumed: 1, renewed: 1 }]);
});

t.test('when the service refuses a fresh URL the download has failed', async (t) => {
  await using parts = await bench(t.testdir());
  parts.server.script.push(refuse(403));
  parts.send(1, 'installSoftware', order(parts.server));
  const { requestId } = await parts.request();
  parts.respond({ requestId, error: { code: 'BINARY_DELETED', message: 'the binary is gone.' } });
  t.match(await parts.answer(1), {
    error: { code: 'DOWNLOAD_FAILED', message: 'no fresh URL: BINARY_DELETED: the binary is gone.' },
  });
});

t.test('a fresh URL that cannot be read is a failed download', async (t) => {
  await using parts = await bench(t.testdir());
  parts.server.script.push(refuse(403));
  parts.send(1, 'installSoftware', order(parts.server));
  const { requestId } = await parts.request();
  parts.respond({ requestId, data: { ...parts.server.source(), url: 'ftp://nowhere' } });
  t.match(await parts.answer(1), { error: { code: 'DOWNLOAD_FAILED', message: 'url is not an http or https URL' } });
});

t.test('the wait for the answer to a request is bounded', async (t) => {
  await using parts = await bench(t.testdir(), [first], { patience: { answer: 5 } });
  parts.server.script.push(refuse(403), refuse(403), refuse(403));
  parts.send(1, 'installSoftware', order(parts.server));
  t.match(await parts.answer(1), {
    error: { code: 'DOWNLOAD_FAILED', message: 'the URL is refused (403); given up after 3 attempts' },
  });
});

t.test('a repeated command brings a newer URL to its download', async (t) => {
  await using parts = await bench(t.testdir());
  parts.server.script.push(refuse(403));
  parts.send(1, 'installSoftware', order(parts.server));
  await parts.request();
  parts.send(1, 'installSoftware', order(parts.server, '1.0.0', '/newer'), 2);
  t.match(await parts.answer(1), { status: 'succeeded' });
  t.strictSame(
    parts.server.requests.map(({ path }) => path),
    ['/file', '/newer'],
  );
  t.equal(parts.device.executions.get(1), 1);
});

t.test('a newer URL that arrives before the old one is refused is used without a request', async (t) => {
  await using parts = await bench(t.testdir());
  const { server } = parts;
  const { promise: asked, resolve } = Promise.withResolvers<() => void>();
  server.script.push((response) => resolve(() => response.writeHead(403).end()));
  parts.send(1, 'installSoftware', order(server));
  const refuseNow = await asked;
  parts.send(1, 'installSoftware', order(server, '1.0.0', '/newer'), 2);
  await once(parts.device.events, 'command');
  refuseNow();
  t.match(await parts.answer(1), { status: 'succeeded' });
  t.notOk(parts.broker.published.some(({ kind }) => kind === 'requests'));
});

t.test('a repeated command brings a newer URL to its place in the queue', async (t) => {
  await using parts = await bench(t.testdir(), [first, apk('1.1.0')]);
  const [old, fresh] = parts.servers as [FileServer, FileServer];
  old.script.push(old.partly(HALF));
  parts.send(1, 'installSoftware', order(old));
  parts.send(2, 'installSoftware', order(fresh, '1.1.0'));
  await parts.progress(1, 50);
  parts.send(2, 'installSoftware', order(fresh, '1.1.0', '/newer'), 2);
  const [, reaction] = await once(parts.device.events, 'command');
  t.equal(reaction, 'underway');
  old.cut();
  t.match(await parts.answer(2), { status: 'succeeded' });
  t.strictSame(
    fresh.requests.map(({ path }) => path),
    ['/newer'],
  );
});

t.test('without a connection the request for a fresh URL waits for the next one', async (t) => {
  await using parts = await bench(t.testdir());
  const { server, device } = parts;
  const { promise: asked, resolve } = Promise.withResolvers<() => void>();
  server.script.push((response) => resolve(() => response.writeHead(403, { connection: 'close' }).end()));
  parts.send(1, 'installSoftware', order(server));
  const refuseNow = await asked;
  await device.drop();
  const gone = new Promise((done) => server.sockets.values().next().value?.once('close', done));
  refuseNow();
  await gone;
  t.equal(parts.broker.published.filter(({ kind }) => kind === 'requests').length, 0);
  await device.connect();
  const { requestId } = await parts.request();
  parts.respond({ requestId, data: server.source('/fresh') });
  t.match(await parts.answer(1), { status: 'succeeded' });
});

t.test('an installation that ends without a connection is reported on the next one', async (t) => {
  await using parts = await bench(t.testdir());
  const { server, device, broker } = parts;
  server.script.push(server.partly(HALF));
  parts.send(1, 'installSoftware', order(server));
  await parts.progress(1, 50);
  await device.drop();
  const answered = once(device.events, 'answer');
  server.cut();
  await answered;
  t.ok(device.outstanding >= 2, 'a status and an answer');
  await device.connect();
  t.match(await parts.answer(1), { status: 'succeeded' });
  await device.idle();
  t.strictSame(
    broker.published.slice(-2).map(({ kind }) => kind),
    ['status', 'acks'],
  );
});

t.test('a response that cannot be read is a breach of the contract', async (t) => {
  await using parts = await bench(t.testdir());
  parts.respond({ data: {} });
  parts.respond({ requestId: 'a' });
  parts.respond({ requestId: 'a', error: { code: 7 } });
  parts.send(1, 'setWifi', wifi('office'));
  await parts.answer(1);
  t.strictSame(parts.violations, [
    'an unreadable response: requestId is missing',
    'an unreadable response: it has neither data nor error',
    'an unreadable response: code or message is missing',
  ]);
});

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { runProgram } from '../run-program.ts';
import { RECORD } from './received-codes.ts';

const ASK = `
import { request } from 'undici';
import { noteAnswers } from './test/runs/received-codes.ts';
noteAnswers();
const url = process.argv[1];
for (const path of ['/409/ONE', '/409/ONE', '/200/TWO']) await (await fetch(url + path)).text();
await (await request(url + '/503/THREE')).body.text();
`;

t.test('the record has the codes of errors, whether fetch or undici has received them', async (t) => {
  const server = createServer(({ url = '' }, response) => {
    const [, status, code = ''] = url.split('/');
    response.writeHead(Number(status), { 'Lapel-Error-Code': code }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const record = join(t.testdir(), 'record');
  const { stderr, status } = await runProgram(
    process.execPath,
    ['--input-type=module', '-e', ASK, `http://127.0.0.1:${(server.address() as AddressInfo).port}`],
    { cwd: join(import.meta.dirname, '../..'), env: { ...process.env, [RECORD]: record } },
  );
  t.equal(status, 0, stderr);
  t.equal(readFileSync(record, 'utf8'), 'ONE\nTHREE\n');
});

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { createSigner } from '../../src/core/webhooks/signature.ts';
import { createFakeClock } from '../fake-clock.ts';
import { missing } from '../installed.ts';
import { startWorld } from '../world.ts';

const guide = readFileSync(join(import.meta.dirname, '../../docs/application-developers.md'), 'utf8');
const snippetOf = (language: string): string => guide.split(`\`\`\`${language}\n`)[1]?.split('\n```')[0] ?? '';

const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const BODY = '{"type":"test","timestamp":"2026-11-20T09:30:00.123456Z","data":{}}';
const headersAt = (micros: number) => createSigner()('msg_1', micros, BODY, [KEY]);
/** The webhooks to verify, and whether they are genuine. */
const CASES: [title: string, headers: Record<string, string>, body: string, good: boolean][] = [
  ['a webhook', headersAt(Date.now() * 1000), BODY, true],
  ['a changed body', headersAt(Date.now() * 1000), BODY.replace('test', 'tost'), false],
  ['one of an hour ago', headersAt((Date.now() - 3_600_000) * 1000), BODY, false],
  ['another id', { ...headersAt(Date.now() * 1000), 'webhook-id': 'msg_2' }, BODY, false],
];

t.test(
  'the documented verification in Python tells webhooks from others',
  {
    skip: missing.python(),
  },
  async (t) => {
    const program = `${snippetOf('python')}
import json, sys
headers, body, key = json.load(sys.stdin)
print(verify(headers, body.encode(), key))`;
    for (const [title, headers, body, good] of CASES) {
      const { stdout } = spawnSync('python3', ['-c', program], { input: JSON.stringify([headers, body, KEY]) });
      t.equal(stdout.toString().trim(), good ? 'True' : 'False', title);
    }
  },
);

t.test(
  'the documented verification in Go tells webhooks from others',
  {
    skip: missing.go(),
  },
  async (t) => {
    const folder = t.testdir({
      'go.mod': 'module example\n\ngo 1.19\n',
      webhook: { 'webhook.go': snippetOf('go') },
      'main.go': `package main

import (
	"encoding/json"
	"example/webhook"
	"fmt"
	"net/http"
	"os"
)

func main() {
	var given struct {
		Headers map[string]string
		Body    string
		Key     string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		panic(err)
	}
	header := http.Header{}
	for name, value := range given.Headers {
		header.Set(name, value)
	}
	fmt.Println(webhook.Verify(header, []byte(given.Body), given.Key))
}
`,
    });
    for (const [title, headers, body, good] of CASES) {
      const input = JSON.stringify({ Headers: headers, Body: body, Key: KEY });
      const { stdout, stderr } = spawnSync('go', ['run', '.'], {
        cwd: folder,
        input,
        env: { ...process.env, GOFLAGS: '' },
      });
      t.equal(stdout.toString().trim(), String(good), `${title} ${stderr.toString()}`);
    }
  },
);

t.test('the documented receiver in TypeScript activates a device and takes the webhook of it', async (t) => {
  const world = await startWorld(t, { clock: createFakeClock(Date.now() * 1000) });
  const { applicationId, secret } = await world.createTenant('dev', { key: false, deviceEvent: false });
  const device = await world.registerDevice();
  const link = await world.connect(device);
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  const program = snippetOf('ts')
    .replaceAll("'@lapel/client'", `'${join(import.meta.dirname, '../../src/clients/client/index.ts')}'`)
    .replaceAll('http://127.0.0.1:8080', world.service.addresses.http)
    .replaceAll('9000', String(port))
    .replaceAll('490154203237518', device.deviceId)
    .replaceAll('patrol', applicationId);
  const file = join(t.testdir(), 'receiver.ts');
  writeFileSync(file, program);
  const child = spawn(process.execPath, [file], { env: { LAPEL_APPLICATION_SECRET: secret } });
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const closed = once(child, 'close');
  const command = await link.command();
  link.puback(command.packet);
  await link.ack({ transactionId: command.transactionId, status: 'succeeded' });
  t.same(await closed, [0, null], output);
  t.match(output, /transaction\.succeeded \{/);
  t.match(output, /operation: 'activate'/);
});

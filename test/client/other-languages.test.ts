import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@lapel/tools/harness/free-port';
import t from 'tap';
import { createSigner } from '../../src/core/webhooks/signature.ts';
import { createFakeClock } from '../fake-clock.ts';
import { missing } from '../installed.ts';
import { runProgram } from '../run-program.ts';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';

const guide = (name: string): string => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8');
const snippetIn = (name: string, language: string): string =>
  guide(name).split(`\`\`\`${language}\n`)[1]?.split('\n```')[0] ?? '';
const snippetOf = (language: string): string => snippetIn('verify-webhooks.md', language);

const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const BODY = '{"type":"test","timestamp":"2026-11-20T09:30:00.123456Z","data":{}}';
const OTHER_KEY = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const headersAt = (micros: number, keys = [KEY]) => createSigner()('msg_1', micros, BODY, keys);
/** The webhooks to verify, and whether they are genuine. */
const CASES: [title: string, headers: Record<string, string>, body: string, good: boolean][] = [
  ['a webhook', headersAt(Date.now() * 1000), BODY, true],
  ['a changed body', headersAt(Date.now() * 1000), BODY.replace('test', 'tost'), false],
  ['one of an hour ago', headersAt((Date.now() - 3_600_000) * 1000), BODY, false],
  ['another id', { ...headersAt(Date.now() * 1000), 'webhook-id': 'msg_2' }, BODY, false],
  ['one that is signed by a newer key as well', headersAt(Date.now() * 1000, [OTHER_KEY, KEY]), BODY, true],
  ['one that is signed by another key', headersAt(Date.now() * 1000, [OTHER_KEY]), BODY, false],
  ['a time that is no number', { ...headersAt(Date.now() * 1000), 'webhook-timestamp': 'now' }, BODY, false],
  ['no headers', {}, BODY, false],
];
const EXPECTED = CASES.map(([, , , good]) => String(good));

/** A case as four arguments of a program: id, timestamp, signatures, body. */
const partsOf = ([, headers, body]: (typeof CASES)[number]): string[] => [
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => headers[name] ?? ''),
  body,
];

t.test(
  'the documented verification in Python tells webhooks from others',
  {
    skip: missing.python(),
  },
  async (t) => {
    const program = `${snippetOf('python')}
import json, sys
for headers, body in json.loads(sys.argv[2]):
    print(str(verify(headers, body.encode(), sys.argv[1])).lower())`;
    const cases = CASES.map(([, headers, body]) => [headers, body]);
    const { stdout, stderr } = await runProgram('python3', ['-c', program, KEY, JSON.stringify(cases)]);
    t.same(stdout.trim().split('\n'), EXPECTED, stderr);
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
	var cases []struct {
		Headers map[string]string
		Body    string
	}
	if err := json.Unmarshal([]byte(os.Args[2]), &cases); err != nil {
		panic(err)
	}
	for _, given := range cases {
		header := http.Header{}
		for name, value := range given.Headers {
			header.Set(name, value)
		}
		fmt.Println(webhook.Verify(header, []byte(given.Body), os.Args[1]))
	}
}
`,
    });
    const cases = JSON.stringify(CASES.map(([, Headers, Body]) => ({ Headers, Body })));
    const { stdout, stderr } = await runProgram('go', ['run', '.', KEY, cases], {
      cwd: folder,
      env: { ...process.env, GOFLAGS: '' },
    });
    t.same(stdout.trim().split('\n'), EXPECTED, stderr);
  },
);

t.test(
  'the documented verification in Java tells webhooks from others',
  {
    skip: missing.java(),
  },
  async (t) => {
    // Java reads the cases from the arguments, and prints an answer for each, because its start takes long.
    const file = join(t.testdir(), 'Main.java');
    const imports = snippetOf('java').split('\n\n')[0] ?? '';
    writeFileSync(
      file,
      `${imports}

public class Main {
    public static void main(String[] all) throws Exception {
        for (int i = 1; i < all.length; i += 4) {
            byte[] body = all[i + 3].getBytes(StandardCharsets.UTF_8);
            System.out.println(Webhook.verify(all[i], all[i + 1], all[i + 2], body, all[0]));
        }
    }
}
${snippetOf('java').slice(imports.length)}`,
    );
    const { stdout, stderr } = await runProgram('java', [file, KEY, ...CASES.flatMap(partsOf)]);
    t.same(stdout.trim().split('\n'), EXPECTED, stderr);
  },
);

t.test(
  'the documented verification in PHP tells webhooks from others',
  {
    skip: missing.php(),
  },
  async (t) => {
    const program = `${snippetOf('php')}
foreach (array_chunk(array_slice($argv, 2), 4) as $one) {
    echo verify_webhook($one[0], $one[1], $one[2], $one[3], $argv[1]) ? "true\\n" : "false\\n";
}`;
    const { stdout, stderr } = await runProgram('php', ['-r', program, '--', KEY, ...CASES.flatMap(partsOf)]);
    t.same(stdout.trim().split('\n'), EXPECTED, stderr);
  },
);

t.test('the documented receiver of verification in TypeScript answers 204 to webhooks and 401 to others', async (t) => {
  const port = await freePort();
  const program = snippetOf('ts').replaceAll(
    "'@lapel/client'",
    `'${join(import.meta.dirname, '../../client/index.ts')}'`,
  );
  const file = join(t.testdir(), 'receiver.ts');
  writeFileSync(file, program);
  const child = spawn(process.execPath, [file], { env: { LAPEL_AUTHENTICATION_KEY: KEY, PORT: String(port) } });
  t.teardown(() => child.kill('SIGKILL'));
  const send = (headers: Record<string, string>, body: string): Promise<number> =>
    fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body }).then(({ status }) => status);
  await until(async () => (await send({}, '').catch(() => undefined)) !== undefined);
  for (const [title, headers, body, good] of CASES) t.equal(await send(headers, body), good ? 204 : 401, title);
});

t.test('the documented receiver in TypeScript activates a device and takes the webhook of it', async (t) => {
  const world = await startWorld(t, { clock: createFakeClock(Date.now() * 1000) });
  const { applicationId, secret } = await world.createTenant('dev', { key: false, deviceEvent: false });
  const device = await world.registerDevice();
  const link = await world.connect(device);
  const port = await freePort();
  const program = snippetIn('application-developers.md', 'ts')
    .replaceAll("'@lapel/client'", `'${join(import.meta.dirname, '../../client/index.ts')}'`)
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

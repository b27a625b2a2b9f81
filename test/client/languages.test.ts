import { spawn } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { freePort } from '@lapel/tools/harness/free-port';
import { clientOperations } from '@lapel/tools/scripts/clients/operations';
import { type ClientLanguage, clientFiles, writeClient } from '@lapel/tools/scripts/clients/packages';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { createSigner } from '../../src/core/webhooks/signature.ts';
import { blocksOf } from '../docs/blocks.ts';
import { createFakeClock } from '../fake-clock.ts';
import { missing } from '../installed.ts';
import { runProgram } from '../run-program.ts';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';

const PROGRAMS = join(import.meta.dirname, 'programs');
const PAGE = 'docs/clients.md';
/** The request for a token, which clients make by themselves. */
const TOKEN = 'issueToken';
const LANGUAGES: readonly ClientLanguage[] = ['python', 'java', 'go'];
const [FIRST_CALL, RECEIVER] = [0, 1];
const WORLD_OF_TODAY = () => createFakeClock(Date.now() * 1000);

const listing = (language: ClientLanguage, index: number): string =>
  blocksOf(PAGE).filter((block) => block.language === language)[index]?.text ?? '';

interface Program {
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
}

async function must(command: string, args: string[], cwd: string): Promise<void> {
  const { status, stderr } = await runProgram(command, args, { cwd, env: { ...process.env, GOFLAGS: '' } });
  if (status !== 0) throw new Error(stderr);
}

const JAVAC = ['--release', '11', '-Xlint:all', '-Werror', '-encoding', 'UTF-8', '-d'];

/** Makes the client of a language in a folder; Java is compiled. */
async function build(language: ClientLanguage, folder: string): Promise<void> {
  const paths = await writeClient(language, folder);
  if (language === 'java') await must('javac', [...JAVAC, 'classes', ...paths], folder);
}

/** Makes a program of a listing or a file, with the client in another folder; Java and Go are compiled. */
const MAKE: Readonly<
  Record<ClientLanguage, (folder: string, client: string, name: string, text: string) => Promise<Program>>
> = {
  async python(folder, client, name, text) {
    writeFileSync(join(folder, `${name}.py`), text);
    return { command: 'python3', args: ['-W', 'error', `${name}.py`], env: { PYTHONPATH: client }, cwd: folder };
  },
  async java(folder, client, name, text) {
    writeFileSync(join(folder, `${name}.java`), text);
    const classes = join(client, 'classes');
    await must('javac', [...JAVAC, '.', '-cp', classes, `${name}.java`], folder);
    return { command: 'java', args: ['-cp', `${classes}${delimiter}${folder}`, name], env: {}, cwd: folder };
  },
  async go(folder, client, name, text) {
    writeFileSync(join(folder, `${name}.go`), text);
    writeFileSync(
      join(folder, 'go.mod'),
      `module example\n\ngo 1.19\n\nrequire lapel v0.0.0\n\nreplace lapel => ${client}\n`,
    );
    await must('go', ['vet', './...'], folder);
    await must('go', ['build', '-o', name, '.'], folder);
    return { command: join(folder, name), args: [], env: {}, cwd: folder };
  },
};

const folderOf = (t: Test, name: string): string => {
  const folder = join(t.testdir(), name);
  mkdirSync(folder, { recursive: true });
  return folder;
};

t.test('each client has every operation of the OpenAPI document that needs a token', async (t) => {
  const document = parse(readFileSync(join(import.meta.dirname, '../../schemas/openapi.yaml'), 'utf8')) as {
    paths: Record<
      string,
      Record<string, { operationId?: string; security?: object[]; responses?: Record<string, { content?: object }> }>
    >;
  };
  const all = Object.values(document.paths).flatMap((path) => Object.values(path));
  const isStream = (one: (typeof all)[number]): boolean =>
    'text/event-stream' in (one.responses?.['200']?.content ?? {});
  const named = all.flatMap((one) =>
    one.operationId !== undefined && one.operationId !== TOKEN && one.security?.length !== 0 && !isStream(one)
      ? [one.operationId]
      : [],
  );
  const operations = clientOperations().map(({ name }) => name);
  t.same(operations.toSorted(), [...new Set(named)].toSorted());
  t.ok(operations.length > 90);
  for (const language of LANGUAGES) {
    const text = [...(await clientFiles(language)).values()].join('\n');
    const methodOf = {
      python: (name: string) => `    def ${name.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`)}(self`,
      java: (name: string) => ` ${name}(`,
      go: (name: string) => `func (c *Client) ${name.charAt(0).toUpperCase()}${name.slice(1)}(`,
    }[language];
    t.same(
      operations.filter((name) => !text.includes(methodOf(name))),
      [],
      language,
    );
  }
});

// The vectors of the libraries of Standard Webhooks, and the public key of the seed that they sign with.
const AT = 1_614_265_330;
const VECTOR = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' };
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BY_SECRET = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
const BY_KEY = 'v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag==';
const seed = Buffer.from('VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk=', 'base64');
const privateKey = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
  format: 'der',
  type: 'pkcs8',
});
const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
const PUBLIC = `whpk_${Buffer.from(x, 'base64url').toString('base64')}`;
const OTHER = 'v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=';

/** Key, time of the receiver, id, timestamp, signatures, body; and whether it is genuine. */
const CASES: [
  title: string,
  parts: [key: string, now: number, id: string, timestamp: string, signatures: string, body: string],
  good: boolean,
][] = [
  ['v1', [SECRET, AT, VECTOR.id, String(AT), BY_SECRET, VECTOR.body], true],
  ['v1, a key without its prefix', [SECRET.slice(6), AT, VECTOR.id, String(AT), BY_SECRET, VECTOR.body], true],
  ['v1a', [PUBLIC, AT, VECTOR.id, String(AT), BY_KEY, VECTOR.body], true],
  ['v1 among others', [SECRET, AT, VECTOR.id, String(AT), `${OTHER} v2,abc ${BY_SECRET} ${OTHER}`, VECTOR.body], true],
  ['v1a among others', [PUBLIC, AT, VECTOR.id, String(AT), `${OTHER} ${BY_KEY}`, VECTOR.body], true],
  ['the last second', [SECRET, AT + 300, VECTOR.id, String(AT), BY_SECRET, VECTOR.body], true],
  ['too old', [SECRET, AT + 301, VECTOR.id, String(AT), BY_SECRET, VECTOR.body], false],
  ['from the future', [SECRET, AT - 301, VECTOR.id, String(AT), BY_SECRET, VECTOR.body], false],
  ['another body', [SECRET, AT, VECTOR.id, String(AT), BY_SECRET, '{"test":2432232314}'], false],
  ['another body, v1a', [PUBLIC, AT, VECTOR.id, String(AT), BY_KEY, '{"test":2432232314}'], false],
  ['another id', [SECRET, AT, 'msg_other', String(AT), BY_SECRET, VECTOR.body], false],
  ['another signature', [SECRET, AT, VECTOR.id, String(AT), OTHER, VECTOR.body], false],
  ['a signature of the other kind', [PUBLIC, AT, VECTOR.id, String(AT), BY_SECRET, VECTOR.body], false],
  ['half a signature', [SECRET, AT, VECTOR.id, String(AT), 'v1,', VECTOR.body], false],
  ['half a signature, v1a', [PUBLIC, AT, VECTOR.id, String(AT), 'v1a,', VECTOR.body], false],
  ['no base64', [PUBLIC, AT, VECTOR.id, String(AT), 'v1a,%%%', VECTOR.body], false],
  ['no signature', [SECRET, AT, VECTOR.id, String(AT), '', VECTOR.body], false],
  ['no time', [SECRET, AT, VECTOR.id, '', BY_SECRET, VECTOR.body], false],
  ['a time that is no number', [SECRET, AT, VECTOR.id, 'now', BY_SECRET, VECTOR.body], false],
  ['no id', [SECRET, AT, '', String(AT), BY_SECRET, VECTOR.body], false],
];

for (const language of LANGUAGES) {
  t.test(
    `${language}: the client works with a service, and its webhooks are verified`,
    { skip: missing[language]() },
    async (t) => {
      t.setTimeout(110_000);
      const world = await startWorld(t, { clock: WORLD_OF_TODAY() });
      const tenant = await world.createTenant();
      const devices = [await world.activatedDevice(tenant), await world.activatedDevice(tenant)];
      const [first, second] = devices;
      const unknown = await world.registerDevice();
      const env = {
        LAPEL_URL: world.service.addresses.http,
        LAPEL_APPLICATION: tenant.applicationId,
        LAPEL_APPLICATION_SECRET: tenant.secret,
      };
      const start = async ({ command, args, env: own, cwd }: Program, more: string[] = []) => {
        const { stdout, stderr, status } = await runProgram(command, [...args, ...more], {
          cwd,
          env: { ...process.env, ...env, ...own },
        });
        t.equal(status, 0, stderr);
        return stdout;
      };
      const file = { python: 'probe.py', java: 'Probe.java', go: 'probe.go' }[language];
      const name = file.split('.')[0] ?? '';
      const client = join(world.dataDir, 'client');
      mkdirSync(client);
      await build(language, client);
      const make = (folder: string, title: string, text: string) => MAKE[language](folder, client, title, text);

      await t.test('pages, errors, keys, nulls and lists are as the service means them', async (t) => {
        const probe = await make(folderOf(t, 'probe'), name, readFileSync(join(PROGRAMS, file), 'utf8'));
        const found = JSON.parse(await start(probe, [first!.deviceId, unknown.deviceId])) as Record<string, unknown>;
        t.match(found, {
          pages: [[first!.deviceId], [second!.deviceId]],
          once: true,
          apn: true,
          refused: [403, 'DEVICE_NOT_ACTIVATED'],
          fault: [400, /lang/],
          removed: null,
          tags: { site: 'osaka & 1/2' },
          rollouts: 0,
        });
      });

      await t.test('the first call of the page', async (t) => {
        const text = listing(language, FIRST_CALL).replaceAll('490154203237518', second!.deviceId);
        const program = await make(folderOf(t, 'first'), language === 'java' ? 'FirstCall' : 'first', text);
        t.match(
          await start(program),
          new RegExp(`^${first!.deviceId} .*\\n${second!.deviceId} .*\\ntransaction \\d+\\n$`),
        );
      });

      await t.test('the receiver of the page answers 204 to webhooks and 401 to others', async (t) => {
        const folder = folderOf(t, 'receiver');
        const {
          command,
          args,
          env: own,
          cwd,
        } = await make(folder, language === 'java' ? 'Receiver' : 'receiver', listing(language, RECEIVER));
        const port = await freePort();
        const key = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
        const child = spawn(command, args, {
          cwd,
          env: { ...process.env, ...own, LAPEL_AUTHENTICATION_KEY: key, PORT: String(port) },
          stdio: 'ignore',
        });
        t.teardown(() => child.kill('SIGKILL'));
        const body = '{"type":"test"}';
        const send = (headers: Record<string, string>): Promise<number> =>
          fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body }).then(({ status }) => status);
        await until(async () => (await send({}).catch(() => undefined)) !== undefined);
        const good = createSigner()('msg_1', Date.now() * 1000, body, [key]);
        t.equal(await send(good), 204);
        t.equal(await send({ ...good, 'webhook-id': 'msg_2' }), 401);
        t.equal(await send({}), 401);
      });

      await t.test('the vectors of Standard Webhooks', async (t) => {
        const verify = { python: 'verify.py', java: 'Verify.java', go: 'verify.go' }[language];
        const program = await make(
          folderOf(t, 'verify'),
          verify.split('.')[0] ?? '',
          readFileSync(join(PROGRAMS, verify), 'utf8'),
        );
        const printed = await start(
          program,
          CASES.flatMap(([, parts]) => parts.map(String)),
        );
        const answers = printed.trim().split('\n');
        for (const [index, [title, , good]] of CASES.entries()) t.equal(answers[index], String(good), title);
      });
    },
  );
}

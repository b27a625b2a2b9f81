import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { brokenRules, LEFT_OUT_OF_PLAIN, notHeld, testedDevice } from '../device-sim/device-test/tested.ts';
import { blocksOf, shellBlocksOf } from '../docs/blocks.ts';
import { missing } from '../installed.ts';
import { runProgram } from '../run-program.ts';
import { createKeyPair } from '../software/signing.ts';
import { compile, compiled, JAVA } from './java.ts';

const PAGE = 'docs/device-java.md';
/** The lines that are no imports, and not empty. */
const MOST_OWN_LINES = 60;

/** Builds the library and the camera in a folder, with the commands of the page. */
async function build(folder: string, program: string): Promise<void> {
  writeFileSync(join(folder, 'Camera.java'), program);
  symlinkSync(join(JAVA, '..'), join(folder, 'device'));
  const lines = shellBlocksOf(PAGE).flatMap(({ text }) =>
    text.split('\n').filter((line) => /^(?:javac|jar) /.test(line)),
  );
  for (const line of lines) {
    const { status, stderr } = await runProgram('sh', ['-c', line], { cwd: folder });
    if (status !== 0) throw new Error(`${line}: ${stderr}`);
  }
}

t.test('the other listings of docs/device-java.md fit the library', { skip: missing.java() }, async (t) => {
  const [, ...listings] = blocksOf(PAGE).flatMap(({ language, text }) => (language === 'java' ? [text] : []));
  t.equal(listings.length, 2);
  const given = 'Device device, SocketTransport transport, String ca, String code, SSLSocketFactory tls, KeyPair keys';
  const file = join(t.testdir(), 'Listings.java');
  writeFileSync(
    file,
    `import java.security.KeyPair; import javax.net.ssl.SSLSocketFactory; import lapel.device.*;
    class Listings { void all(${given}, KeyPair nextKeys) throws Exception { ${listings.join('\n')} } }`,
  );
  await t.resolves(compile(t.testdirName, [file], '--release', '11', '-cp', await compiled()));
});

t.test('the camera of docs/device-java.md obeys every rule', { skip: missing.java() }, async (t) => {
  t.setTimeout(600_000);
  const [program = ''] = blocksOf(PAGE).flatMap(({ language, text }) => (language === 'java' ? [text] : []));
  const own = program.split('\n').filter((line) => line !== '' && !line.startsWith('import '));
  t.ok(own.length <= MOST_OWN_LINES, `it has ${own.length} lines of its own`);
  const folder = t.testdir();
  await build(folder, program);
  const key = createKeyPair();
  const [privatePath, publicPath] = [join(folder, 'key.pem'), join(folder, 'key.pub.pem')];
  writeFileSync(privatePath, key.privateKey);
  writeFileSync(publicPath, key.publicKey);
  let running: ChildProcess | undefined;
  let errors = '';
  let start: () => void = () => {};
  async function kill(): Promise<void> {
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  }
  t.teardown(kill);
  const record = await testedDevice(
    `--by-hand 20 --answer-time 20 --wait 30 --revert-after 3 --signing-key ${privatePath}`,
    (url, { deviceId, credential }) => {
      const { hostname, port } = new URL(url);
      start = () => {
        const given = [hostname, port, deviceId, join(folder, 'camera.journal')];
        running = spawn('java', ['-cp', `lapel-device.jar:.`, 'Camera', ...given], {
          cwd: folder,
          env: { PATH: process.env['PATH'], LAPEL_CREDENTIAL: credential, LAPEL_TRUSTED_KEY: publicPath },
          stdio: ['pipe', 'ignore', 'pipe'],
        });
        running.stderr?.on('data', (chunk) => (errors += String(chunk)));
      };
      start();
    },
    {
      asked(text) {
        if (text.includes('send an event')) running?.stdin?.write('help\n');
        if (text.includes('Switch the device off')) void kill().then(start);
      },
    },
  );
  const findings = record.cases.filter(({ findings }) => findings.length > 0);
  t.strictSame(brokenRules(record), [], `${JSON.stringify(findings)}\n${errors}`);
  t.strictSame(record.notRun, []);
  t.strictSame(notHeld(record), LEFT_OUT_OF_PLAIN);
});

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { missing } from './installed.ts';
import { NO_POSTGRES } from './postgres/databases.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');

/** Starts the demo with an empty folder for temporary files. */
function startDemo(t: Test, ...args: string[]) {
  const folder = t.testdir();
  const env = { ...process.env, TMPDIR: folder, LAPEL_HTTP_PORT: 'not for the demo' };
  const child = spawn(process.execPath, [MAIN, 'demo', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  const ended = Promise.all([once(child, 'exit'), text(child.stderr)]);
  return {
    child,
    folder,
    async end(): Promise<{ code: number | null; stderr: string }> {
      const [[code], stderr] = await ended;
      return { code: code as number | null, stderr };
    },
  };
}

/** Collects the lines of the child; `until` resolves with all lines so far once one matches (now or later). */
function linesOf(child: ChildProcess) {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let over = false;
  const look = (): void => {
    for (const one of waiting) one();
  };
  createInterface({ input: child.stdout! })
    .on('line', (line) => {
      lines.push(line);
      look();
    })
    .on('close', () => {
      over = true;
      look();
    });
  return {
    until: (pattern: RegExp): Promise<string[]> =>
      new Promise((resolve, reject) => {
        const one = (): void => {
          const found = lines.some((line) => pattern.test(line));
          if (!found && !over) return;
          waiting.delete(one);
          if (found) resolve([...lines]);
          else reject(new Error(`the demo ended before ${pattern.source}`));
        };
        waiting.add(one);
        one();
      }),
  };
}

/**
 * Gives the transactionId of the n-th transaction: after the ninth the service restarts, and numbers continue higher.
 */
function numbersIn(output: string): (number: number) => number {
  const [, higher] = /#(\d{6,}) +PUT camera 4 apps/.exec(output) ?? [];
  return (number) => (number < 10 ? number : Number(higher) + number - 10);
}

t.test('--once shows the tour, ends with 0 and leaves nothing behind', async (t) => {
  const demo = startDemo(t, '--once');
  const [output, { code, stderr }] = await Promise.all([text(demo.child.stdout), demo.end()]);
  t.equal(stderr, '', 'no log line disturbs the timeline');
  t.equal(code, 0);
  t.same(readdirSync(demo.folder), []);
  t.notOk(output.includes('\u001b'), 'no colours outside of a terminal');
  const idOf = numbersIn(output);
  const arrow = (from: string, to: string, rest: string): RegExp =>
    new RegExp(`\\d s +${from} +-> ${to} +${rest.replace(/#(\d+)/, (_, number) => `#${idOf(Number(number))}`)}`);
  const inOrder = [
    arrow('app', 'lapel', '#6 +PUT camera 1 settings/wifi "office" -> 201'),
    arrow('lapel', 'camera 1', '#6 +setWifi "office"'),
    arrow('camera 1', 'lapel', '#6 +succeeded'),
    arrow('lapel', 'webhook', '#6 +transaction.succeeded, signature verified'),
    arrow('camera 3', 'lapel', '#7 +failed: '),
    arrow('lapel', 'webhook', '#7 +transaction.failed, signature verified'),
    arrow('app', 'lapel', '#9 +PUT camera 4 settings/wifi "depot" -> 201'),
    arrow('app', 'lapel', '#8 +DELETE camera 4 transaction \\(cancel\\) -> 204'),
    arrow('lapel', 'webhook', '#8 +transaction.cancelled, signature verified'),
    /started again on the same data/,
    arrow('app', 'lapel', '#9 +GET camera 4 transaction: queued -> 200'),
    arrow('lapel', 'camera 4', '#9 +setWifi "depot"'),
    arrow('lapel', 'webhook', '#9 +transaction.succeeded, signature verified'),
    arrow('lapel', 'camera 5', '#5 +activate'),
    arrow('lapel', 'webhook', '#5 +transaction.succeeded, signature verified'),
    arrow('app', 'lapel', 'POST apps 1\\.0\\.0: an upload URL -> 200'),
    arrow('app', 'store', 'PUT camera-1\\.0\\.0\\.apk'),
    arrow('app', 'lapel', 'POST 1\\.0\\.0 distributions \\(start\\) -> 201'),
    arrow('app', 'lapel', '#10 +PUT camera 4 apps 1\\.0\\.0 -> 201'),
    arrow('lapel', 'camera 1', '#11 +installSoftware 1\\.0\\.0'),
    arrow('camera 1', 'store', 'has downloaded \\d+ bytes'),
    arrow('lapel', 'webhook', '#11 +transaction.succeeded, signature verified'),
    arrow('lapel', 'camera 4', '#10 +installSoftware 1\\.0\\.0'),
    arrow('lapel', 'webhook', '#10 +transaction.succeeded, signature verified'),
    arrow('lapel', 'webhook', '#12 +transaction.succeeded, signature verified'),
    arrow('camera 1', 'lapel', '#13 +failed: VERSION_CODE_NOT_HIGHER'),
    arrow('lapel', 'webhook', '#13 +transaction.failed, signature verified'),
    arrow('camera 4', 'lapel', '#14 +failed: VERSION_NAME_MISMATCH'),
    arrow('lapel', 'webhook', '#14 +transaction.failed, signature verified'),
    arrow('app', 'lapel', 'GET firmware: 9\\.2\\.0 -> 200'),
    arrow('lapel', 'webhook', '#15 +transaction.succeeded, signature verified'),
    arrow('lapel', 'camera 1', '#16 +setLanguage ja'),
    arrow('app', 'lapel', 'GET camera 1 status: ja, firmware 9\\.2\\.0, battery \\d+ %, Wi-Fi "office" -> 200'),
    arrow('lapel', 'camera 1', '#17 +setConnectivityState on'),
    arrow('lapel', 'webhook', '#18 +transaction.succeeded, signature verified'),
    /camera 1 sees: Earpiece, /,
    arrow('lapel', 'camera 1', '#19 +pairBluetooth 0A:'),
    arrow('camera 1', 'lapel', 'bluetooth.connected: Earpiece'),
    arrow('lapel', 'webhook', 'bluetooth.connected, signature verified'),
    arrow('lapel', 'webhook', 'bluetooth.disconnected, signature verified'),
    arrow('app', 'lapel', '#20 +GET camera 2 transaction: FIRMWARE_TOO_OLD -> 200'),
    arrow('lapel', 'webhook', '#20 +transaction.cancelled, signature verified'),
    arrow('lapel', 'webhook', 'call.ended, signature verified'),
    arrow('lapel', 'webhook', 'recording.urls, signature verified; presigned: 2'),
    arrow('camera 1', 'store', 'has uploaded \\d+ bytes'),
    arrow('camera 1', 'store', 'has uploaded \\d+ bytes'),
    arrow('lapel', 'webhook', 'recording.saved, signature verified'),
    /in the store, byte for byte/,
    arrow('lapel', 'webhook', 'fileUpload.url, signature verified; presigned: 1'),
    arrow('lapel', 'webhook', 'fileUpload.succeeded, signature verified'),
    /^All as promised: 20 transactions and 6 events, a verified webhook for each, none lost, none doubled/m,
  ];
  const lines = output.split('\n');
  let from = 0;
  for (const pattern of inOrder) {
    const found = lines.findIndex((line, index) => index >= from && pattern.test(line));
    if (!t.ok(found >= 0, `then ${pattern.source}`)) break;
    from = found + 1;
  }
  t.notMatch(output, /setWifi "ofice"/, 'the cancelled command is not delivered');
});

t.test('--cluster kills a node under load, ends with 0 and leaves nothing behind', { skip: NO_POSTGRES }, async (t) => {
  const demo = startDemo(t, '--cluster');
  const [output, { code, stderr }] = await Promise.all([text(demo.child.stdout), demo.end()]);
  t.equal(stderr, '');
  t.equal(code, 0);
  t.same(readdirSync(demo.folder), []);
  t.match(output, /somebody -> node-1 +kill -9, after 60 commands/);
  t.match(output, /has lost its connection/, 'cameras were connected to it');
  t.match(output, /executed +168, each once, in order/);
  t.match(output, /All as promised: a node died, and nothing was lost, nothing done twice/);
});

const skip = missing.curl();
t.test('the commands for going on by hand work unchanged, in order; Ctrl-C ends the demo', { skip }, async (t) => {
  const taken = createServer().listen(8080, '127.0.0.1');
  taken.on('error', () => undefined); // another process uses the port, which is just as good
  t.teardown(() => taken.close());
  const demo = startDemo(t);
  const { until } = linesOf(demo.child);
  const lines = await until(/Ctrl-C ends the demo/);
  const idOf = numbersIn(lines.join('\n'));
  t.notOk(
    lines.some((line) => /REST API .*:8080$/.test(line)),
    'a port that is taken is replaced by a free one',
  );
  const script: string[] = [];
  for (const line of lines.slice(lines.findIndex((text) => text.startsWith('Go on by hand')))) {
    if (line.startsWith('# ')) script.push(`echo '== ${script.length}'`);
    else if (/^(curl|APP=|AUTH=|export |bin\/)/.test(line)) script.push(line);
  }
  // One of its two cameras refuses the upgrade, so the exit code is 1.
  const text = script.join('\n').replace(/^bin\/lapel\.mjs app upload .*/m, '$& 2>/dev/null || test $? = 1');
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', text], { cwd: join(import.meta.dirname, '..') });
  const answers = stdout.split(/^== \d+\n/m).slice(2);
  t.equal(answers.length, 12);
  const [settings, wifi, look, status, apn, waiting, cancel, software, upgrade, devices, metrics, token] =
    answers as string[] & { length: 12 };
  t.match(JSON.parse(settings!), { authenticationKey: /^whsec_/, deviceEvent: /^http:\/\/127/ });
  t.same(JSON.parse(wifi!), { transactionId: idOf(21) });
  t.match(JSON.parse(look!), { transactionId: idOf(21), operation: 'setWifi' });
  t.match(JSON.parse(status!), { connected: true, lang: 'ja', bluetooth: { enabled: true } });
  t.same(JSON.parse(apn!), { transactionId: idOf(22) });
  t.match(JSON.parse(waiting!), { total: 1, transactions: [{ transactionId: idOf(22), operation: 'setApn' }] });
  t.equal(cancel, '204\n');
  t.match(software, /com\.example\.camera +1\.2\.0 [\s\S]* 1\.1\.0 [\s\S]* 1\.0\.0 /);
  t.match(upgrade, / \d+ +failed +VERSION_CODE_NOT_HIGHER: .*\n.* \d+ +succeeded\n/);
  t.equal(JSON.parse(devices!).total, 5);
  t.match(metrics, /^lapel_transactions_created_total\{operation="setWifi"\} \d/m);
  t.match(JSON.parse(token!), { token_type: 'bearer' });

  await until(new RegExp(`lapel +-> camera 1 +#${idOf(21)} +setWifi "studio"`));
  await until(new RegExp(`lapel +-> webhook +#${idOf(21)} +transaction.succeeded, signature verified`));
  await until(new RegExp(`lapel +-> webhook +#${idOf(22)} +transaction.cancelled, signature verified`));
  demo.child.kill('SIGINT');
  t.same(await demo.end(), { code: 0, stderr: '' });
  t.same(readdirSync(demo.folder), []);
});

t.test('Ctrl-C in the middle of the tour ends it at once, and leaves nothing behind', async (t) => {
  const demo = startDemo(t, '--once');
  await linesOf(demo.child).until(/POST camera 1/);
  demo.child.kill('SIGINT');
  t.same(await demo.end(), { code: 130, stderr: '' });
  t.same(readdirSync(demo.folder), []);
});

t.test('a wrong option ends with 2, and is named', async (t) => {
  const demo = startDemo(t, '--twice');
  const { code, stderr } = await demo.end();
  t.equal(code, 2);
  t.match(stderr, /^lapel: --twice: is not an option of this command[^\n]*\nSee: lapel demo --help\n$/);
});

// npm run try -- debian: makes the Debian package of this checkout, and installs, starts, upgrades and purges it in a Debian
// with a systemd of its own. It needs root and Debian's packages debootstrap and lintian, so it is not part of `npm test`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianPackage } from './release/debian-package.ts';
import { lapelPackage } from './release/lapel-package.ts';
import { MANIFEST, ROOT } from './release/lockfile.ts';
import { createAttempts } from './trial/attempts.ts';
import { run } from './trial/programs.ts';
import { bootDebian } from './try-debian/system.ts';
import { debianMirror } from './try-image/debian.ts';

const TOOLS = ['debootstrap', 'lintian', 'dpkg-deb', 'systemd-analyze', 'unshare', 'nsenter', 'fish', 'man'];
const INCLUDED = 'ca-certificates,systemd,systemd-sysv,dbus,adduser,init-system-helpers,libstdc++6';
/** The most that `systemd-analyze security` may say, in tenths. */
const EXPOSURE = 19;
const UNIT = join(ROOT, 'deploy/debian/lapel.service');
const TOKEN = 'administrator token of the credential store';
const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';
const NEXT = `${MANIFEST.version}+1`;

const folder = mkdtempSync(join(tmpdir(), 'lapel-debian-'));
const root = join(folder, 'root');
const { attempt, conclude } = createAttempts();
const ENV = { PATH: process.env['PATH'] ?? '', HOME: folder };
const here = { env: ENV, cwd: folder };

/** A package that stands for NodeSource's: the Node of this checkout. */
async function makeNode(): Promise<void> {
  const made = join(folder, 'nodejs');
  mkdirSync(join(made, 'DEBIAN'), { recursive: true });
  mkdirSync(join(made, 'usr/bin'), { recursive: true });
  cpSync(process.execPath, join(made, 'usr/bin/node'));
  const fields = [
    `Version: ${process.versions.node}-1`,
    `Architecture: ${ARCHITECTURE}`,
    'Maintainer: a test <a@test>',
  ];
  writeFileSync(join(made, 'DEBIAN/control'), `Package: nodejs\n${fields.join('\n')}\nDescription: Node\n`);
  await run(['dpkg-deb', '-Zgzip', '-z1', '--root-owner-group', '--build', made, join(root, 'nodejs.deb')], here);
}

async function tryUnit(): Promise<void> {
  await attempt(`systemd-analyze security: below ${(EXPOSURE + 1) / 10}`, async () => {
    const { stdout } = await run(
      ['systemd-analyze', 'security', '--offline=true', `--threshold=${EXPOSURE}`, '--no-pager', UNIT],
      here,
    );
    return /Overall exposure level.*?: ([\d.]+)/.exec(stdout)?.[1];
  });
}

async function tryInDebian(): Promise<void> {
  await using system = await bootDebian(root);
  const { inside, shell, becomes } = system;
  const show = (property: string): string => `systemctl show --value --property ${property} lapel`;
  const ready =
    'node -e "fetch(\'http://127.0.0.1:8081/readyz\').then(async (a) => console.log(a.status, await a.text()))"';
  const dataOf = 'lapel admin developer list --data-dir /var/lib/lapel';

  const isInstalled = await attempt(
    'without a fitting Node it is not installed; with one, it runs at once',
    async () => {
      await inside(['dpkg', '--install', `/lapel-${MANIFEST.version}.deb`], 1);
      await shell(`dpkg --install /nodejs.deb && dpkg --install /lapel-${MANIFEST.version}.deb`);
      assert.match(await shell('systemctl is-active lapel'), /^active$/m);
      assert.match(await shell('systemctl is-enabled lapel'), /^enabled$/m);
      assert.match(await shell(ready), /^200 /);
      assert.match(await shell(show('StatusText')), /^ready$/m);
      assert.match(await shell(show('User')), /^lapel$/m);
    },
  );
  if (!isInstalled) {
    process.stdout.write(await inside(['journalctl', '--no-pager', '-u', 'lapel', '-n', '40']));
    return;
  }
  await attempt('the unit is right for its systemd', () =>
    shell('systemd-analyze verify --man=no /usr/lib/systemd/system/lapel.service'),
  );
  await attempt('files belong to their owners', async () => {
    const files = '/etc/lapel/lapel.env /var/lib/lapel /var/lib/lapel/admin-token /var/lib/lapel/lapel.db';
    const modes = '640 root:lapel\n700 lapel:lapel\n600 lapel:lapel\n600 lapel:lapel';
    assert.equal((await shell(`stat -c '%a %U:%G' ${files}`)).trim(), modes);
  });
  await attempt('the command line works on the machine, and its limits are those of the unit', async () => {
    await shell('lapel admin developer create acme --name Acme --device-limit 10 --data-dir /var/lib/lapel');
    assert.match(await shell(dataOf), /acme/);
    assert.match(await shell(show('LimitNOFILE')), /^131072$/m);
  });
  await attempt('completion of bash and zsh, and the pages of man', async () => {
    const bash =
      '. /usr/share/bash-completion/completions/lapel; COMP_WORDS=(lapel dev); COMP_CWORD=1; _lapel; echo $COMPREPLY';
    assert.match(await inside(['bash', '-c', bash]), /^device$/m);
    const share = join(root, 'usr/share');
    const page = await run(['man', '--warnings', '-l', join(share, 'man/man1/lapel.1.gz')], here);
    assert.match(page.stdout, /LAPEL_DATABASE_URL/);
    assert.equal(page.stderr, '');
    const fish = `source ${join(share, 'fish/vendor_completions.d/lapel.fish')}; complete -C 'lapel dev'`;
    assert.match((await run(['fish', '--no-config', '-c', fish], here)).stdout, /^device$/m);
    await run(['bash', '-c', `! command -v zsh || zsh -n ${join(share, 'zsh/vendor-completions/_lapel')}`], here);
  });
  await attempt('a secret of the credential store is used, and a missing one names its setting', async () => {
    const setting = 'LAPEL_ADMIN_TOKEN_FILE=/run/credentials/lapel.service/lapel.admin-token';
    await shell(`echo '${setting}' >> /etc/lapel/lapel.env`);
    await inside(['systemctl', 'restart', 'lapel'], 1);
    assert.match(await shell('journalctl -u lapel'), /LAPEL_ADMIN_TOKEN_FILE: .* cannot be read \((ENOENT|EACCES)\)/);
    assert.match(await shell(show('ExecMainStatus')), /^78$/m);
    assert.match(await inside(['systemctl', 'is-active', 'lapel'], 3), /^failed$/m, 'and no start follows');
    await shell(`install -D -m 0600 /dev/stdin /etc/credstore/lapel.admin-token <<< '${TOKEN}'`);
    await shell('systemctl restart lapel');
    assert.match(await shell(`lapel admin developer list --token '${TOKEN}'`), /acme/);
  });
  await attempt('a process that hangs is replaced by the watchdog, and one that was killed at once', async () => {
    await shell('mkdir -p /run/systemd/system/lapel.service.d');
    await shell("printf '[Service]\\nWatchdogSec=6s\\n' > /run/systemd/system/lapel.service.d/test.conf");
    await shell('systemctl daemon-reload; systemctl restart lapel');
    await shell('kill -STOP $(systemctl show --value -p MainPID lapel)');
    await becomes(show('NRestarts'), /^1$/m);
    await becomes('systemctl is-active lapel', /^active$/m);
    await shell('sleep 15'); // longer than twice the watchdog: signs of life arrive
    assert.match(await shell(show('NRestarts')), /^1$/m);
    await shell('kill -KILL $(systemctl show --value -p MainPID lapel)');
    await becomes(show('NRestarts'), /^2$/m);
    await becomes('systemctl is-active lapel', /^active$/m);
    assert.match(await shell(`lapel admin developer list --token '${TOKEN}'`), /acme/);
  });
  await attempt('an upgrade stops and starts it, and keeps data and settings', async () => {
    await shell(`dpkg --install /lapel-${NEXT}.deb`);
    assert.match(await shell('systemctl is-active lapel'), /^active$/m);
    assert.match(await shell(`lapel admin developer list --token '${TOKEN}'`), /acme/);
    assert.match(await shell('cat /etc/lapel/lapel.env'), /^LAPEL_ADMIN_TOKEN_FILE=/m);
    assert.match(await shell('dpkg-query --status lapel'), /^Version: .*\+1$/m);
  });
  await attempt('a stop ends with 0 within its time', async () => {
    await shell('systemctl stop lapel');
    assert.match(await shell(show('Result')), /^success$/m);
    assert.match(await shell(show('ExecMainStatus')), /^0$/m);
    await shell('systemctl start lapel');
  });
  await attempt('a removal keeps settings and data; a purge keeps the data only, and says so', async () => {
    await shell('dpkg --remove lapel');
    await inside(['systemctl', 'is-active', 'lapel'], 3);
    await shell('test -e /etc/lapel/lapel.env -a -e /var/lib/lapel/lapel.db');
    assert.match(await shell('dpkg --purge lapel'), /data of lapel stay in \/var\/lib\/lapel/);
    await shell('test ! -e /etc/lapel -a ! -e /usr/lib/lapel -a -e /var/lib/lapel/lapel.db');
    await shell('rm -r /var/lib/lapel; deluser --quiet --system lapel');
    await shell(`dpkg --install /lapel-${NEXT}.deb`);
    await shell('systemctl stop lapel; rm -r /var/lib/lapel/*; rm -rf /var/lib/lapel/.[a-z]*; dpkg --purge lapel');
    await shell('test ! -e /var/lib/lapel; ! getent passwd lapel');
  });
}

async function tryDebian(): Promise<void> {
  const lapel = await lapelPackage();
  const file = join(folder, 'lapel.deb');
  const made = debianPackage(lapel, ARCHITECTURE);
  writeFileSync(file, made);
  await attempt('lintian finds no error', () => run(['lintian', '--fail-on', 'error', '--allow-root', file], here));
  await tryUnit();
  const isMade = await attempt('debootstrap', () =>
    run(['debootstrap', '--variant=minbase', `--include=${INCLUDED}`, 'bookworm', root, debianMirror()], here),
  );
  if (!isMade) return;
  writeFileSync(join(root, `lapel-${MANIFEST.version}.deb`), made);
  writeFileSync(join(root, `lapel-${NEXT}.deb`), debianPackage(lapel, ARCHITECTURE, NEXT));
  await makeNode();
  await tryInDebian();
}

// A trial that is stopped leaves nothing behind: the processes of its Debian end with their parent.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const missing = TOOLS.filter((name) => spawnSync('which', [name]).status !== 0);
if (missing.length > 0 || process.getuid?.() !== 0) {
  process.stderr.write(`try -- debian needs root, and these programs are missing: ${missing.join(', ') || 'none'}\n`);
  process.exitCode = 2;
} else {
  await tryDebian();
  process.exitCode = conclude() ? 0 : 1;
}

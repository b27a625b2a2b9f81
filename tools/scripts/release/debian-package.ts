import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ALL_COMMANDS } from '@lapel/cli/commands';
import { completionScript } from '@lapel/cli/line/completion';
import { NODE_OF_PACKAGE } from '@lapel/schemas/base/installation';
import { MANIFEST, ROOT } from './lockfile.ts';
import { manPage, manPageOfSimulator } from './man-pages.ts';
import { archiveOf, compressed, type Files } from './tarball.ts';

/** The architectures of Debian, with the binary of SQLite that each needs. */
export const ARCHITECTURES = { amd64: 'linux-x64', arm64: 'linux-arm64' } as const;
type Architecture = keyof typeof ARCHITECTURES;

const PREBUILDS = 'node_modules/better-sqlite3/prebuilds/';
const HOME = 'usr/lib/lapel/';
const CONFFILE = 'etc/lapel/lapel.env';
const SCRIPTS = ['postinst', 'prerm', 'postrm'];

const MAINTAINER = 'The maintainers of Lapel <lapel@localhost>';

const own = (name: string): Buffer => readFileSync(join(ROOT, 'deploy/debian', name));

/** The oldest Node that fits, and the first major version that does not. */
const [[oldest, minor]] = NODE_OF_PACKAGE as [readonly [number, number]];
const next = Math.max(...NODE_OF_PACKAGE.map(([major]) => major)) + 1;

/**
 * Node is not part of the package: it gets its own updates, from the server that it was installed from. Debian 12 and 13
 * have none that is new enough, but NodeSource has.
 */
const controlOf = (architecture: Architecture, version: string, bytes: number): string => `Package: lapel
Version: ${version}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: nodejs (>= ${oldest}.${minor}), nodejs (<< ${next}), adduser, libc6 (>= 2.31), libstdc++6 (>= 10)
Suggests: postgresql
Section: net
Priority: optional
Description: MQTT device broker with a management API
 Developers manage devices through a REST API; the devices speak MQTT. A call
 becomes a durable transaction, the transaction becomes a command, and the
 acknowledgement of the device becomes a signed webhook.
 .
 The package has the service, its command line and the device simulator.
`;

/** Faults that lintian would find, with their reasons. */
const OVERRIDES = `# The binary of SQLite is the one of the npm package, byte by byte, with which all tests ran.
lapel: unstripped-binary-or-object
# The project has no mail host.
lapel: bogus-mail-host
lapel: bogus-mail-host-in-debian-changelog
`;

const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: lapel

Files: *
Copyright: 2026 the authors of Lapel
License: Apache-2.0
 On Debian systems, the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
Comment:
 The packages in /usr/lib/lapel/node_modules have their own licenses beside
 them; those of files for browsers are in /usr/lib/lapel/licenses.
`;

const gzipped = (text: string): Buffer => compressed(Buffer.from(text));

/** The files of the package by their paths, from those of the npm package. */
function filesOf(lapel: Files, architecture: Architecture, version: string): Files {
  const files: Files = new Map();
  for (const [path, content] of lapel)
    if (!path.startsWith(PREBUILDS) || path === `${PREBUILDS}${ARCHITECTURES[architecture]}.node`)
      files.set(HOME + path, content);
  const share = 'usr/share/';
  files.set(CONFFILE, own('lapel.env'));
  files.set('usr/lib/systemd/system/lapel.service', own('lapel.service'));
  files.set(`${share}bash-completion/completions/lapel`, Buffer.from(completionScript('bash', ALL_COMMANDS)));
  files.set(`${share}zsh/vendor-completions/_lapel`, Buffer.from(completionScript('zsh', ALL_COMMANDS)));
  files.set(`${share}fish/vendor_completions.d/lapel.fish`, Buffer.from(completionScript('fish', ALL_COMMANDS)));
  files.set(`${share}man/man1/lapel.1.gz`, gzipped(manPage()));
  files.set(`${share}man/man1/lapel-sim.1.gz`, gzipped(manPageOfSimulator()));
  files.set(`${share}doc/lapel/copyright`, Buffer.from(COPYRIGHT));
  files.set(`${share}lintian/overrides/lapel`, Buffer.from(OVERRIDES));
  const changes = `lapel (${version}) stable; urgency=medium\n\n  * See /usr/lib/lapel/CHANGELOG.md.\n\n`;
  const signature = ` -- ${MAINTAINER}  Sat, 26 Oct 1985 08:15:00 +0000\n`;
  files.set(`${share}doc/lapel/changelog.gz`, gzipped(changes + signature));
  return files;
}

/** The commands in /usr/bin: links to the programs of the npm package. */
const LINKS = Object.entries(MANIFEST.bin).map(([name, program]) => ({
  path: `./usr/bin/${name}`,
  mode: 0o777,
  link: `../lib/lapel/${program}`,
}));

const isProgram = (path: string): boolean => path.startsWith(`${HOME}bin/`) && !path.endsWith('start.mjs');

/** The data of the package, with an entry for each folder. */
function dataOf(files: Files): Buffer {
  const entries = [...files].map(([path, content]) => {
    const mode = isProgram(path) ? 0o755 : path === CONFFILE ? 0o640 : 0o644;
    return { path: `./${path}`, content, mode };
  });
  const folders = new Set<string>();
  for (const { path } of [...entries, ...LINKS])
    for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder)) folders.add(`./${folder}/`);
  const all = [...entries, ...LINKS, ...[...folders].map((path) => ({ path: posix.normalize(path), mode: 0o755 }))];
  const named = all.map((entry) => ({ ...entry, path: entry.path.startsWith('./') ? entry.path : `./${entry.path}` }));
  return archiveOf(named.sort((one, other) => (one.path < other.path ? -1 : 1)));
}

function controlFilesOf(files: Files, control: string): Buffer {
  const sums = [...files.keys()]
    .filter((path) => path !== CONFFILE)
    .map((path) => `${createHash('md5').update(files.get(path)!).digest('hex')}  ${path}\n`);
  const texts = { control, conffiles: `/${CONFFILE}\n`, md5sums: sums.join('') };
  const entries = Object.entries(texts).map(([name, text]) => ({
    path: `./${name}`,
    content: Buffer.from(text),
    mode: 0o644,
  }));
  const scripts = SCRIPTS.map((name) => ({ path: `./${name}`, content: own(name), mode: 0o755 }));
  return archiveOf([...entries, ...scripts]);
}

/** Joins the parts as `ar` does: Debian's format (deb(5)) since 1995. */
function joined(parts: readonly (readonly [name: string, content: Buffer])[]): Buffer {
  const members = parts.flatMap(([name, content]) => {
    const fields = [name.padEnd(16), '499162500'.padEnd(12), '0'.padEnd(6), '0'.padEnd(6), '100644'.padEnd(8)];
    const head = `${fields.join('')}${String(content.length).padEnd(10)}\`\n`;
    return [Buffer.from(head), content, Buffer.from(content.length % 2 === 1 ? '\n' : '')];
  });
  return Buffer.concat([Buffer.from('!<arch>\n'), ...members]);
}

/**
 * The Debian package for an architecture. It is made here and not by dpkg-deb, so that every system makes the same bytes.
 */
export function debianPackage(lapel: Files, architecture: Architecture, version = MANIFEST.version): Buffer {
  const files = filesOf(lapel, architecture, version);
  const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  return joined([
    ['debian-binary', Buffer.from('2.0\n')],
    ['control.tar.gz', controlFilesOf(files, controlOf(architecture, version, bytes))],
    ['data.tar.gz', dataOf(files)],
  ]);
}

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { areInstalled } from '@lapel/tools/bench/peers/install';
import { findProgram } from '@lapel/tools/bench/peers/stores';
import { findPostgres } from '@lapel/tools/harness/postgres-server';

/** Debian's own Python, for which its packages are installed. */
export const DEBIAN_PYTHON = '/usr/bin/python3';
/** The browser that pages are tried in: first the one without windows, which takes a quarter less processor time. */
export const CHROMIUM = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(existsSync);
/** The headers of the libraries that the device in C uses. */
const HEADERS = ['mosquitto.h', 'cjson/cJSON.h', 'curl/curl.h', 'openssl/evp.h'];
export const POOLER = '/usr/sbin/pgbouncer';

const runs = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;

/**
 * Looks for each program that some tests need and the service does not. Returns the reason why those tests are skipped, or
 * false where the program is installed.
 */
export const missing = {
  postgres: () => findPostgres() === undefined && 'PostgreSQL is not installed (.ci/install-postgres)',
  peers: () =>
    !(findProgram('redis-server') && findProgram('mosquitto') && areInstalled('most')) &&
    'Redis, Mosquitto or a library of the peers is not installed (.ci/install-peers)',
  restate: () => !areInstalled('restate') && 'Restate is not installed (npm run bench -- --peers=restate installs it)',
  pooler: () => !existsSync(POOLER) && 'pgbouncer is not installed (.ci/install-postgres)',
  swift: () =>
    !existsSync('/usr/lib/python3/dist-packages/swift') && 'OpenStack Swift is not installed (.ci/install-swift)',
  browser: () => CHROMIUM === undefined && 'Chromium is not installed (.ci/install-chromium)',
  promtool: () => !runs('promtool', '--version') && 'Prometheus is not installed (.ci/install-prometheus)',
  paho: () => !runs(DEBIAN_PYTHON, '-c', 'import paho.mqtt.client') && 'paho-mqtt is not installed (.ci/install-paho)',
  pahoC: () => !existsSync('/usr/bin/paho_c_pub') && 'Paho for C is not installed (.ci/install-mosquitto)',
  python: () => !runs('python3', '--version') && 'python3 is not installed (.ci/install-languages)',
  go: () => !runs('go', 'version') && 'Go is not installed (.ci/install-languages)',
  java: () => !runs('javac', '--version') && 'a JDK is not installed (.ci/install-languages)',
  php: () => !runs('php', '--version') && 'PHP is not installed (.ci/install-languages)',
  mosquitto: () =>
    !runs('gcc', '-fsyntax-only', ...HEADERS.flatMap((name) => ['-include', name]), '-x', 'c', '/dev/null') &&
    'a C compiler, or a library of the device in C, is not installed (.ci/install-mosquitto)',
  gcc: () => !runs('gcc', '--version') && 'a C compiler is not installed (.ci/install-mosquitto)',
  mosquittoClients: () =>
    !existsSync('/usr/bin/mosquitto_pub') && 'mosquitto_pub is not installed (.ci/install-mosquitto)',
  zsh: () => !runs('zsh', '--version') && 'zsh is not installed (.ci/install-languages)',
  dpkg: () => !runs('dpkg-deb', '--version') && 'dpkg is not installed',
  fish: () => !runs('fish', '--version') && 'fish is not installed (.ci/install-languages)',
  openssl: () => !runs('openssl', 'version') && 'openssl is not installed (.ci/install-languages)',
  curl: () => !runs('curl', '--version') && 'curl is not installed (.ci/install-languages)',
  prlimit: () => !runs('prlimit', '--version') && 'prlimit is not installed',
};

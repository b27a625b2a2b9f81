import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DEPLOY = join(import.meta.dirname, '../../deploy');

/** The examples of proxies, each with the program that reads it. */
export const PROXIES = {
  nginx: {
    file: 'nginx.conf',
    check: (config: string) => ['nginx', '-t', '-q', '-e', '/dev/null', '-c', config],
    run: (config: string) => ['nginx', '-e', '/dev/stderr', '-c', config, '-g', 'daemon off;'],
  },
  haproxy: {
    file: 'haproxy-tls.cfg',
    check: (config: string) => ['haproxy', '-c', '-q', '-f', config],
    run: (config: string) => ['haproxy', '-W', '-f', config],
  },
  caddy: {
    file: 'Caddyfile',
    check: (config: string) => ['caddy', 'validate', '--adapter', 'caddyfile', '--config', config],
    run: (config: string) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', config],
  },
} as const;
export type ProxyName = keyof typeof PROXIES;

/** The ports and paths of an example, which a test replaces by its own. */
export interface Places {
  folder: string;
  cert: string;
  key: string;
  /** The port that stands for each port of the example. */
  ports: Readonly<Record<number, number>>;
}

/** The example with the places of a test; `file` names another one for the same program. */
export function exampleOf(name: ProxyName, { folder, cert, key, ports }: Places, file?: string): string {
  const text = readFileSync(join(DEPLOY, file ?? PROXIES[name].file), 'utf8')
    .replaceAll('/etc/nginx/nginx-mqtt.js', join(DEPLOY, 'nginx-mqtt.js'))
    .replaceAll('/run/lapel-', join(folder, 'lapel-'))
    .replaceAll('/etc/lapel/tls/fullchain.pem', cert)
    .replaceAll('/etc/lapel/tls/privkey.pem', key)
    .replace('pid /run/nginx.pid;', `pid ${folder}/nginx.pid;`)
    .replace('error_log /var/log/nginx/error.log;', `error_log ${folder}/error.log;`)
    .replace(
      '  access_log off;',
      `  access_log off;\n${TEMPORARY.map((kind) => `  ${kind}_temp_path ${folder}/${kind};\n`).join('')}`,
    )
    .replace(/^user www-data;\n/m, '')
    .replaceAll(/^worker_rlimit_nofile.*\n|^ {2}worker_connections.*\n|^ {2}maxconn.*\n/gm, '');
  return text.replaceAll(/(?<=(?:127\.0\.0\.1:|listen |bind :|port |_port ))\d+\b/g, (port) =>
    String(ports[Number(port)] ?? port),
  );
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** The settings that the head of an example names with their values. */
export function settingsOf(name: ProxyName): Record<string, string> {
  const head = readFileSync(join(DEPLOY, PROXIES[name].file), 'utf8');
  return Object.fromEntries([...head.matchAll(/^# {3}(LAPEL_\w+)=(\S+)$/gm)].map(([, key, value]) => [key, value]));
}

/** Debian keeps these programs where not every user looks for them. */
export const PROXY_ENV = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };

/** False where the program is installed, or the reason why it is not tried. */
export function missingProxy(name: ProxyName): string | false {
  const [program = ''] = PROXIES[name].run('');
  const { error } = spawnSync(program, ['-v'], { env: PROXY_ENV });
  return (
    error !== undefined && `${name} is not installed (Debian: ${name === 'nginx' ? 'nginx libnginx-mod-stream' : name})`
  );
}

import { readdirSync, statSync } from 'node:fs';
import { get } from 'node:http';
import { get as getSecure } from 'node:https';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { diskOf } from './data-folder.ts';

const ANSWER_MS = 2_000;
const MEBIBYTE = 1024 ** 2;
/** Free bytes below which a database cannot go on, and below which an operator should look. */
const FULL = 100 * MEBIBYTE;
const NEARLY_FULL = 1024 * MEBIBYTE;
const EVERYWHERE = new Set(['0.0.0.0', '::']);

/** Something that was looked at: `advice` is no fault, but an operator should know it. */
export interface Finding {
  text: string;
  level: 'good' | 'advice' | 'bad';
}

const good = (text: string): Finding => ({ text, level: 'good' });
const advice = (text: string): Finding => ({ text, level: 'advice' });
const bad = (text: string): Finding => ({ text, level: 'bad' });

export interface Address {
  name: string;
  host: string;
  port: number;
}

/** Whether a service answers at the address of administration, with TLS or without. */
export async function isRunning({ host, port }: Pick<Address, 'host' | 'port'>): Promise<boolean> {
  if (port === 0) return false;
  const options = { host: EVERYWHERE.has(host) ? 'localhost' : host, port, path: '/healthz', timeout: ANSWER_MS };
  const ask = (secure: boolean): Promise<boolean> =>
    new Promise((resolve) => {
      // Its certificate is looked at elsewhere.
      const request = secure ? getSecure({ ...options, rejectUnauthorized: false }) : get(options);
      request.on('response', (response) => {
        response.destroy();
        resolve(response.statusCode === 200);
      });
      request.on('timeout', () => request.destroy(new Error('no answer')));
      request.on('error', () => resolve(false));
    });
  return (await ask(false)) || ask(true);
}

/** The code of the error with which an address refuses to be listened on; undefined when it is free. */
function faultOf({ host, port }: Address): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => resolve(code));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Looks whether a start could listen on all addresses. A service that runs has them already. */
export async function lookAtPorts(addresses: readonly Address[], admin: Address): Promise<Finding[]> {
  if (await isRunning(admin)) return [good(`a service answers at ${admin.host}:${admin.port}`)];
  const found: Finding[] = [];
  for (const address of addresses) {
    if (address.port === 0) continue;
    const code = await faultOf(address);
    if (code === undefined) continue;
    const why = code === 'EADDRINUSE' ? 'another program uses it' : `cannot listen (${code})`;
    found.push(bad(`${address.name} ${address.host}:${address.port}: ${why}`));
  }
  return found.length > 0 ? found : [good('free')];
}

const sizeOf = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`;

/** Looks at the disk of the data folder, if the folder is there. */
export async function lookAtDisk(folder: string): Promise<Finding[]> {
  let disk: Awaited<ReturnType<typeof diskOf>>;
  try {
    disk = await diskOf(folder);
  } catch {
    return [];
  }
  const text = `${sizeOf(disk.free)} of ${sizeOf(disk.size)} are free`;
  if (disk.free < FULL) return [bad(`${text}; the service answers 503 when it cannot store`)];
  return [disk.free < NEARLY_FULL || disk.free < disk.size / 20 ? advice(`only ${text}`) : good(text)];
}

/** The text about a file or folder that users without right can read, or that belongs to somebody else. */
function problemOf(path: string, own: number, others: number): string | undefined {
  const { mode, uid } = statSync(path);
  const right = (mode & 0o777).toString(8).padStart(4, '0');
  if (mode & others) return `${path} has the mode ${right}: other users can read it`;
  return others === ALL_OTHERS && own !== 0 && uid !== own ? `${path} belongs to another user` : undefined;
}

/** The bits of a mode for all users but the owner; and for those that are not in the group of the file either. */
const ALL_OTHERS = 0o077;
const NOT_IN_GROUP = 0o007;

/** What is wrong with files with secrets that users without right can read. */
export function readableByOthers(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    try {
      return problemOf(path, userInfo().uid, NOT_IN_GROUP) ?? [];
    } catch {
      return []; // it is not there, which is the fault of the setting
    }
  });
}

/** Looks at the owner and the modes of the data folder and of the files in it, and of further files with secrets. */
export function lookAtFiles(folder: string, secrets: readonly string[]): Finding[] {
  const own = userInfo().uid; // -1 where users have no numbers
  let inFolder: string[];
  try {
    inFolder = ['', ...readdirSync(folder)].map((name) => join(folder, name));
  } catch {
    inFolder = [];
  }
  const look = (others: number) => (path: string) => {
    try {
      return problemOf(path, own, others) ?? [];
    } catch {
      return []; // it went away meanwhile
    }
  };
  const found = [...inFolder.flatMap(look(ALL_OTHERS)), ...readableByOthers(secrets)];
  return found.length > 0 ? found.map(advice) : [good('only their owner can read them')];
}

import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { WorldTime } from './time.ts';

const require = createRequire(import.meta.url);

type Work = (...given: unknown[]) => unknown;
type Told = (...result: unknown[]) => void;

/**
 * Functions of `node:fs` that read and write files step by step; streams of files use them. They do their work at once: a
 * thread of the machine would take longer to begin with it.
 */
const STEPS = ['open', 'close', 'read', 'write', 'writev', 'fstat', 'stat', 'fsync', 'fdatasync'] as const;
const OF_PATHS = ['access', 'mkdir', 'readFile', 'readdir', 'rename', 'rm', 'stat', 'unlink', 'writeFile'] as const;
const OF_HANDLES = [
  'read',
  'write',
  'writev',
  'stat',
  'sync',
  'datasync',
  'readFile',
  'writeFile',
  'truncate',
] as const;
const OF_ARCHIVES = ['inflateRaw', 'deflateRaw', 'gzip', 'gunzip'] as const;
const OF_KEYS = ['sign', 'verify', 'digest', 'generateKey', 'importKey', 'exportKey'] as const;

const isOptions = (given: object): boolean => Object.getPrototypeOf(given) === Object.prototype && !('signal' in given);

/**
 * Lets work of the machine (files, keys, archives) take the time that the world gives it: which of two ends first would be up
 * to the machine.
 */
export async function replaceMachine(time: () => WorldTime): Promise<void> {
  const promised =
    (work: Work, self?: unknown): Work =>
    (...given) =>
      time().outside(Promise.resolve(work.apply(self, given)));
  const calledBack =
    (work: Work): Work =>
    (...given) => {
      const done = given.pop() as Told;
      const made = new Promise<unknown[]>((resolve) => work(...given, (...result: unknown[]) => resolve(result)));
      void (async () => done(...(await time().outside(made))))();
    };
  /** A step that is done at once; reads and writes tell their buffers as well. */
  const stepped =
    (work: Work): Work =>
    (...given) => {
      const done = given.pop() as Told;
      const made = new Promise((resolve) => resolve(work(...given)));
      const end = async (): Promise<void> => {
        let result: unknown;
        try {
          result = await time().outside(made);
        } catch (error) {
          return done(error);
        }
        done(null, result, given[1]);
      };
      void end();
    };
  /** Work on a path with bytes or options; other work, as on an open file, is that of `otherwise`. */
  const atOnce =
    (work: Work, otherwise: Work): Work =>
    (...given) => {
      const isPlain = given.every((one) => !(one instanceof Object) || one instanceof Uint8Array || isOptions(one));
      if (typeof given[0] !== 'string' || !isPlain) return otherwise(...given);
      return new Promise((resolve) => resolve(work(...given)));
    };
  const fs = require('node:fs') as Record<string, Work>;
  const files = require('node:fs/promises') as Record<string, unknown>;
  const handle = await (files['open'] as (path: string) => Promise<object & { close(): Promise<void> }>)('/dev/null');
  const handles = Object.getPrototypeOf(handle) as Record<string, Work>;
  await handle.close();
  for (const name of STEPS) fs[name] = stepped(fs[`${name}Sync`]!);
  for (const name of OF_PATHS) files[name] = atOnce(fs[`${name}Sync`]!, files[name] as Work);
  for (const [name, work] of Object.entries(files))
    if (typeof work === 'function') files[name] = promised(work as Work);
  // A handle closes itself by a function of its own, and a folder is read by functions that nobody can replace.
  const open = files['open'] as (...given: unknown[]) => Promise<{ close(): Promise<void> }>;
  files['open'] = async (...given: unknown[]) => {
    const opened = await open(...given);
    const close = opened.close.bind(opened);
    const { files: ofProgram = new Set() } = time().program;
    const file = { close };
    ofProgram.add(file);
    return Object.assign(opened, {
      close() {
        ofProgram.delete(file);
        return time().outside(close());
      },
    });
  };
  files['opendir'] = async (path: string) => fs['readdirSync']!(path, { withFileTypes: true });
  for (const name of OF_HANDLES) {
    const work = handles[name]!;
    handles[name] = function (this: unknown, ...given) {
      return time().outside(Promise.resolve(work.apply(this, given)));
    };
  }

  const crypto = require('node:crypto') as typeof import('node:crypto');
  Object.assign(crypto, { generateKeyPair: calledBack(crypto.generateKeyPair as Work) });
  const { subtle } = crypto.webcrypto;
  for (const name of OF_KEYS)
    Object.defineProperty(subtle, name, { value: promised(subtle[name] as unknown as Work, subtle) });

  const zlib = require('node:zlib') as typeof import('node:zlib');
  for (const name of OF_ARCHIVES)
    Object.defineProperty(zlib, name, { value: calledBack(zlib[name] as Work), configurable: true, enumerable: true });
  syncBuiltinESMExports();
}

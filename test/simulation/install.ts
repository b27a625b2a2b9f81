import { registerHooks } from 'node:module';
import { MODULE_ENDING } from '@lapel/schemas/base/installation';
import { replaceMachine } from './machine.ts';
import { replaceNetwork } from './replace-network.ts';
import { replaceTimers } from './timers.ts';
import { systemChance, world } from './world.ts';

const ROOT = new URL('../../', import.meta.url);

/**
 * The modules that a world replaces, each with the reason. Everything else is the code of the service and of the simulator
 * as it is released: from the functions that the listeners call, and the stream that the broker gets, inwards.
 *
 * Replaced as well, in `timers.ts` and `replace-network.ts`: time and timers, sockets, the resolver of names, and chance. TLS is
 * left out, because it is work of OpenSSL. Files and keys stay those of the machine; their time is none of the world's.
 */
export const REPLACED: Readonly<Record<string, { by: string; because: string }>> = {
  'src/platform/database/sqlite/log-thread': {
    by: 'log-thread',
    because: 'a thread has no time of the world; and the disk has to lose what it does not have yet',
  },
  'src/platform/database/sqlite/group-commit': {
    by: 'group-commit',
    because: 'it is the real one, and tells the witness of effects and answers that do not wait for the disk',
  },
  'src/platform/database/sqlite/aside': { by: 'aside', because: 'a thread has no time of the world' },
  'src/platform/apk/inspector': { by: 'inspector', because: 'a thread has no time of the world' },
  'src/runtime/thread-time': {
    by: 'thread-time',
    because: 'the processor time of the machine differs from run to run',
  },
  'src/runtime/open-files-watch': {
    by: 'open-files-watch',
    because: 'the open files of the machine are not those of the world',
  },
  'src/views/loop-delay': { by: 'loop-delay', because: 'the event loop of the machine is none of the world' },
  'node_modules/undici/lib/util/timers.js': {
    by: 'undici-timers.cjs',
    because: 'its one timer for all programs of the process would end with the first of them',
  },
  'src/core/outbox/outbox': {
    by: 'outbox',
    because: 'it is the real one, and tells the witness what it writes; in some worlds devices have little room',
  },
  'src/core/transactions/settlement': {
    by: 'settlement',
    because: 'it is the real one, and tells the witness which answers of devices it has stored',
  },
  'src/runtime/slow-look': {
    by: 'slow-look',
    because: 'it is the real one, and looks less often in a long world, where it would be most events',
  },
  'src/core/rollouts/look-interval': {
    by: 'look-interval',
    because: 'it is the real one, and longer in a long world, where the looks would take most of the time',
  },
  'device-sim/timer-wheel': {
    by: 'timer-wheel',
    because:
      'it spares timers of the system, which cost nothing in a world, and its own turns would be most events of a long one',
  },
  'device-sim/mqtt/keep-alive': { by: 'keep-alive', because: 'pings would be most events of a long world' },
  'device-sim/scenario/sampler': { by: 'sampler', because: 'nobody looks at the curves of a world' },
  'device-sim/watch': { by: 'watch', because: 'nobody looks at the display of a world' },
  'device-sim/service/own-service': { by: 'own-service', because: 'the service is in this process' },
  'device-sim/scenario/own-pace': { by: 'own-pace', because: 'the machine may be slow; the world is not' },
  'device-sim/customer/patience': {
    by: 'patience',
    because: 'a connection may be dead, and a wait for the device to notice costs nothing in a world',
  },
  'device-sim/scenario/service-watch': {
    by: 'service-watch',
    because: 'ten calls a second would be most events of a world, and memory is that of the machine',
  },
};

const fileOf = (path: string): string => (/\.c?js$/.test(path) ? path : `${path}${MODULE_ENDING}`);
const BY_URL = new Map(
  Object.entries(REPLACED).map(([path, { by }]) => [
    new URL(fileOf(path), ROOT).href,
    new URL(`./replaced/${fileOf(by)}`, import.meta.url).href,
  ]),
);

/**
 * Replaces the surroundings of this process by those of a world. Programs are loaded after this; `changed` has other texts
 * for some files of the service, by their paths below `src/`.
 */
export async function install(changed: ReadonlyMap<string, string>): Promise<void> {
  const texts = new Map([...changed].map(([path, text]) => [new URL(`src/${path}`, ROOT).href, text]));
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const source = texts.get(url.replace(/\?real$/, ''));
      return source === undefined ? loaded : { ...loaded, source };
    },
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const url = BY_URL.get(found.url);
      return url === undefined ? found : { ...found, url };
    },
  });
  replaceTimers(() => world().time, systemChance);
  replaceNetwork(() => world().network);
  await replaceMachine(() => world().time);
}

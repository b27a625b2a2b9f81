import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine } from '@lapel/device-sim/command-line';
import type { RunRecord } from '@lapel/device-sim/report/record';
import { run } from '@lapel/device-sim/run';
import { HALTED } from '@lapel/device-sim/scenario/verdicts';
import { freePort } from '@lapel/tools/harness/free-port';
import type { IPublishPacket } from 'mqtt-packet';
import root, { type Test } from 'tap';
import { ADMIN_TOKEN, type ServiceProcess, startProcess } from '../../flow/service-process.ts';
import { type Passing, type Reply, signed, startHttpBetween, startMqttBetween } from './between.ts';

/** The faults of a service: each part may be missing. */
export interface Faults {
  /** Turns a message to a device into those that arrive. */
  readonly mqtt?: (publish: IPublishPacket) => readonly IPublishPacket[];
  /** Changes a webhook, which is signed again. */
  readonly webhook?: (event: Json) => void;
  /** Sends a webhook, as often as it likes. */
  readonly sending?: (passing: Passing, pass: () => Promise<Reply>) => Promise<Reply>;
  /** Answers a call; `pass` lets the service answer. */
  readonly api?: Api;
}

type Api = (passing: Passing, pass: (changed?: Partial<Passing>) => Promise<Reply>) => Promise<Reply>;

/** An object of JSON whose members a fault may change. */
export type Json = Record<string, unknown>;

/** The value at a path, such as `data.transaction.status`. */
export const valueAt = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((found, name) => (found as Json | undefined)?.[name], value);

/** Changes the value at a path; undefined removes it. */
export function put(value: Json, path: string, change: (before: unknown) => unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  const holder = (names.length === 0 ? value : valueAt(value, names.join('.'))) as Json;
  const after = change(holder[last]);
  if (after === undefined) delete holder[last];
  else holder[last] = after;
}

/** Changes the object in a text of JSON. */
export function changed(text: string, change: (value: Json) => void): string {
  const value = JSON.parse(text) as Json;
  change(value);
  return JSON.stringify(value);
}

/**
 * All faults of a list at once, in its order. A run costs a second, so faults that do not hide one another share one.
 */
export function together(list: readonly Faults[]): Faults {
  const changes = list.flatMap(({ webhook }) => webhook ?? []);
  return {
    mqtt: (publish) => list.reduce((all, { mqtt }) => (mqtt ? all.flatMap(mqtt) : all), [publish]),
    webhook: (event) => {
      for (const change of changes) change(event);
    },
    api: list
      .flatMap(({ api }) => api ?? [])
      .reduce<Api>(
        (others, one) => (passing, pass) =>
          one(passing, (change) => others({ ...passing, ...change }, (more) => pass({ ...change, ...more }))),
        (_, pass) => pass(),
      ),
  };
}

let started: Promise<ServiceProcess> | undefined;
let runs = 0;

/**
 * The one real service of this process: the faults are outside of it, and each run has its own devices. `play` runs a
 * scenario against it, with faults put between it and the simulator.
 */
export async function startBreakable(t: Test) {
  const folder = t.testdir();
  started ??= startProcess(root, { LAPEL_DATA_DIR: root.testdir(), LAPEL_ALLOW_HTTP_WEBHOOKS: 'true' });
  const { addresses } = await started;
  const { admin, http, mqtt } = addresses;

  return async function play(t: Test, scenario: string, faults: Faults): Promise<RunRecord> {
    runs += 1;
    const file = join(folder, `broken-${runs}.yaml`);
    writeFileSync(file, `name: broken-${runs}\n${scenario}`);
    const port = await freePort();
    let key = '';
    const api = await startHttpBetween(
      t,
      () => http,
      async (passing, pass) => {
        const reply = await (faults.api ?? ((_, on) => on()))(passing, pass);
        key = /"authenticationKey":"([^"]+)"/.exec(reply.body)?.[1] ?? key;
        return reply;
      },
    );
    const hooks = await startHttpBetween(
      t,
      () => `http://127.0.0.1:${port}`,
      async (passing, pass) => {
        const { path, headers } = passing;
        const isWebhook = path === '/events';
        const body = isWebhook && faults.webhook ? changed(passing.body, faults.webhook) : passing.body;
        const send = (): Promise<Reply> => pass(isWebhook ? { body, headers: signed({ headers }, body, key) } : {});
        return isWebhook && faults.sending ? faults.sending(passing, send) : send();
      },
    );
    const broker = await startMqttBetween(t, mqtt, faults.mqtt ?? ((publish) => [publish]));
    const line = `run ${file} --admin ${admin} --api ${api} --mqtt ${broker} --webhook-listen 127.0.0.1:${port} --webhook-url ${hooks} --clean`;
    const command = readCommandLine(line.split(' '), { LAPEL_ADMIN_TOKEN: ADMIN_TOKEN });
    if (command.do !== 'run') throw new Error('no run');
    const stopped = new AbortController().signal;
    const { record } = await run(command.settings, { stopped, stream: { write: () => {} } });
    // Other tests have the processors meanwhile, so nothing follows from how long an answer took.
    return { ...record, verdicts: record.verdicts.filter(({ text }) => text !== HALTED) };
  };
}

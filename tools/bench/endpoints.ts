import { Pool } from 'undici';
import { runClosedLoop } from './closed-loop.ts';
import { call, type LapelTarget, startLapel } from './lapel-target.ts';
import { medianOf, type Options } from './measure.ts';
import type { Table } from './report.ts';
import { type Application, forEach, makeApplication } from './scale/applications.ts';
import { createSink, type Sink } from './scale/sink.ts';

const APPLICATIONS = 4;
/** The events of each application in a round; each of its endpoints gets all of them. */
const EVENTS = 500;
/** The devices whose events an endpoint gets in order, the events of all of them in a round, and who makes these. */
const DEVICES = 1_000;
const EVENTS_OF_DEVICES = 10_000;
const CALLERS = 64;

/** The number of endpoints of all applications together, and how many of them take a request and never answer. */
export interface Endpoints {
  endpoints: number;
  hanging: number;
}

interface Made {
  application: Pick<Application, 'call'>;
  path: string;
}

/** Makes an endpoint that is disabled: its events wait in the stream. */
async function addEndpoint(application: Pick<Application, 'call'>, properties: object): Promise<Made> {
  const made = await application.call('POST', '/endpoints', { enabled: false, ...properties });
  return { application, path: `/endpoints/${(JSON.parse(made) as { endpointId: string }).endpointId}` };
}

const enable = ({ application, path }: Made): Promise<string> =>
  application.call('PATCH', path, { enabled: true, missed: 'send' });
const disable = ({ application, path }: Made): Promise<string> => application.call('PATCH', path, { enabled: false });

/** A service with applications whose endpoints get the same events. */
async function openWorld({ endpoints, hanging }: Endpoints, stack: AsyncDisposableStack) {
  const target = stack.adopt(await startLapel({ devices: 1 }), (each) => each.close());
  const pool = stack.adopt(new Pool(target.origins[0] ?? '', { connections: 64, pipelining: 1 }), (each) =>
    each.close(),
  );
  const [well, dead, others] = [await createSink(), await createSink(), await createSink()];
  for (const sink of [well, dead, others]) stack.defer(() => sink.close());
  dead.answers(Number.POSITIVE_INFINITY);
  const applications: Application[] = [];
  const made: Made[] = [];
  for (let number = 0; number < APPLICATIONS; number += 1) {
    const application = await makeApplication(target, pool, `app-${number}`, others);
    applications.push(application);
    for (let place = number; place < endpoints; place += APPLICATIONS) {
      const { url } = place < hanging ? dead : well;
      made.push(await addEndpoint(application, { url: `${url}/${place}`, types: ['test'] }));
    }
  }

  /** Lets events wait for all endpoints; then the webhooks per second of those that answer, until they have all. */
  async function measure(): Promise<number> {
    await forEach(made.length, 8, async (number) => void (await disable(made[number] as Made)));
    const told = others.until(others.answered() + APPLICATIONS * EVENTS);
    await forEach(APPLICATIONS * EVENTS, 64, async (number) => applications[number % APPLICATIONS]?.send());
    await told;
    const expected = (endpoints - hanging) * EVENTS;
    const all = well.until(well.answered() + expected);
    const began = performance.now();
    await forEach(made.length, 8, async (number) => void (await enable(made[number] as Made)));
    await all;
    return expected / ((performance.now() - began) / 1000);
  }
  return { measure };
}

async function besideHanging({ rounds }: Options, { endpoints, hanging }: Endpoints): Promise<Table> {
  await using stack = new AsyncDisposableStack();
  const alone = await openWorld({ endpoints: endpoints - hanging, hanging: 0 }, stack);
  const beside = await openWorld({ endpoints, hanging }, stack);
  await alone.measure();
  await beside.measure();
  const pairs: { alone: number; beside: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const first = round % 2 === 0 ? await alone.measure() : undefined;
    const other = await beside.measure();
    pairs.push({ alone: first ?? (await alone.measure()), beside: other });
  }
  return {
    name: 'Endpoints beside hanging ones',
    about: `${endpoints - hanging} endpoints of ${APPLICATIONS} applications get ${EVENTS} events each: alone, and in turns beside ${hanging} that take each request and never answer. Medians of ${rounds} rounds.`,
    rows: [
      {
        endpoints,
        hanging,
        'webhooks/s without hanging ones': Math.round(medianOf(pairs, (pair) => pair.alone)),
        'webhooks/s beside them': Math.round(medianOf(pairs, (pair) => pair.beside)),
        ratio: Number(medianOf(pairs, (pair) => pair.beside / pair.alone).toFixed(2)),
      },
    ],
  };
}

/** The application of the closed loop, as far as endpoints need it. */
const applicationOf = ({ origins: [origin = ''], headers }: LapelTarget): Pick<Application, 'call'> => ({
  call: (method, path, body) =>
    call(`${origin}/v1/applications/bench${path}`, { method, token: headers['authorization'] ?? '', body }),
});

async function inOrder({ rounds }: Options): Promise<Table> {
  await using stack = new AsyncDisposableStack();
  const target = stack.adopt(await startLapel({ devices: DEVICES }), (each) => each.close());
  const application = applicationOf(target);
  const sides: Record<'none' | 'device', { sink: Sink; endpoint: Made; rates: number[] }> = {
    none: await side('none'),
    device: await side('device'),
  };
  async function side(ordered: 'none' | 'device') {
    const sink = stack.adopt(await createSink(), (each) => each.close());
    const properties = { url: `${sink.url}/${ordered}`, types: ['transaction.*'], ordered };
    return { sink, endpoint: await addEndpoint(application, properties), rates: [] as number[] };
  }

  async function measure({ sink, endpoint }: (typeof sides)['none'], events: number): Promise<number> {
    const all = sink.until(sink.answered() + events);
    const began = performance.now();
    await enable(endpoint);
    await all;
    const seconds = (performance.now() - began) / 1000;
    await disable(endpoint);
    return events / seconds;
  }
  // The first round lets V8 compile the code.
  for (let round = -1; round < rounds; round += 1) {
    let made = 0;
    const { loops } = await runClosedLoop(target, CALLERS, Number.POSITIVE_INFINITY, () => {
      made += 1;
      return made > EVENTS_OF_DEVICES;
    });
    for (const one of round % 2 === 0 ? (['none', 'device'] as const) : (['device', 'none'] as const)) {
      const rate = await measure(sides[one], loops);
      if (round >= 0) sides[one].rates.push(rate);
    }
  }
  const pairs = sides.none.rates.map((none, round) => ({ none, device: sides.device.rates[round] ?? Number.NaN }));
  return {
    name: 'Order of devices',
    about: `An endpoint gets ${EVENTS_OF_DEVICES.toLocaleString('en')} events of ${DEVICES.toLocaleString('en')} devices: side by side, and in turns with those of each device one after another. Medians of ${rounds} rounds.`,
    rows: [
      {
        devices: DEVICES,
        'webhooks/s side by side': Math.round(medianOf(pairs, ({ none }) => none)),
        'webhooks/s in order': Math.round(medianOf(pairs, ({ device }) => device)),
        ratio: Number(medianOf(pairs, ({ none, device }) => device / none).toFixed(2)),
      },
    ],
  };
}

/** Measures endpoints beside such that hang, and what the order of devices costs. */
export async function runEndpoints(options: Options & Endpoints): Promise<Table[]> {
  const { endpoints, hanging } = options;
  const isFit = Number.isInteger(endpoints) && endpoints <= 16 * APPLICATIONS && hanging >= 0 && hanging < endpoints;
  if (!isFit) throw new Error(`--endpoints takes up to ${16 * APPLICATIONS}, and --hanging fewer than these`);
  return [await besideHanging(options, { endpoints, hanging }), await inOrder(options)];
}

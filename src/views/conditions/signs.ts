import type { Metrics } from '../../metrics.ts';
import type { Readable } from '../service-figures.ts';
import { CONSUMER_LEVELS, type ConsumersNow, consumersText } from './consumers-now.ts';
import type { Alarm } from './kinds.ts';
import { counted, lasting, percent } from './words.ts';

/** A condition that a node finds in its own figures. */
export type Sign = Pick<Alarm, 'kind' | 'level' | 'text'>;

/** The figures that a node knows of itself beside its metrics; seconds and milliseconds. */
export interface OwnFigures {
  /** The age of the oldest command that its connected device has neither acknowledged nor answered. */
  silentSeconds: number;
  commitP99Ms: number | null;
  loopP99Ms: number | null;
  /** The share of the memory for JavaScript objects that is in use. */
  heapShare: number;
  /** The age of the oldest entry of the audit log that its receiver does not have. */
  auditWaitsSeconds: number;
  /** The consumers of the streams that do not keep up, on the node that leads. */
  consumers: ConsumersNow;
  /** Whether this node does the work of the whole service, such as the removal of old rows. */
  leads: boolean;
}

type Labels = Record<string, string | number>;

/** The sum of the series of a metric whose labels match; of a histogram: the number of its values. */
async function sum(metric: Readable, matches: (labels: Labels) => boolean = () => true): Promise<number> {
  const { values } = await metric.get();
  return values
    .filter(({ metricName = '' }) => !metricName.endsWith('_sum') && !metricName.endsWith('_bucket'))
    .filter(({ labels }) => matches(labels as Labels))
    .reduce((total, { value }) => total + value, 0);
}

/** The number of values of a histogram above a bound of its buckets. */
async function above(metric: Readable, bound: number, matches?: (labels: Labels) => boolean): Promise<number> {
  const { values } = await metric.get();
  const upTo = values
    .filter(({ metricName = '', labels }) => metricName.endsWith('_bucket') && (labels as Labels)['le'] === bound)
    .filter(({ labels }) => matches?.(labels as Labels) ?? true)
    .reduce((total, { value }) => total + value, 0);
  return (await sum(metric, matches)) - upTo;
}

const ofApi = ({ listener }: Labels): boolean => listener === 'api';
const NO_LOGIN = new Set<unknown>(['connections', 'waiting', 'address', 'login_time', 'accept', 'unavailable']);
const ENROLLED = new Set<unknown>(['enrolled', 'again', 'pending', 'person', 'renewed']);
/** Seconds above which an answer of the API is slow. */
const SLOW_ANSWER = 1;

/** Counters that only rise while the process runs. Their rise over the last minutes is looked at. */
const TOTALS = {
  apiCalls: (m) => sum(m.httpRequests, ofApi),
  apiFaults: (m) => sum(m.httpRequests, (labels) => ofApi(labels) && Number(labels['status']) >= 500),
  apiSlow: (m) => above(m.httpSeconds, SLOW_ANSWER, ofApi),
  identitiesContested: (m) => sum(m.mqttIdentitiesContested),
  devicesRefused: (m) => sum(m.mqttRefused, ({ reason }) => NO_LOGIN.has(reason)),
  enrolmentsRefused: (m) => sum(m.enrolments, ({ outcome }) => !ENROLLED.has(outcome)),
  commandsRefused: async (m) => (await sum(m.transactionsRefused)) + (await sum(m.rolloutsRefused)),
  eventsRefused: (m) => sum(m.eventsRefused),
  transfersRefused: (m) => sum(m.objectsRefused),
  webhooksGivenUp: (m) => sum(m.deliveryAttempts, ({ outcome }) => outcome === 'exhausted'),
  hintsDropped: (m) => sum(m.clusterHints, ({ outcome }) => outcome === 'dropped'),
  numbersRaised: (m) => sum(m.numbersRaised, ({ reason }) => reason !== 'start' && reason !== 'server_start'),
} as const satisfies Record<string, (metrics: Metrics) => Promise<number>>;
export type Totals = Record<keyof typeof TOTALS, number>;

/** Reads the totals as they are now. */
export async function totalsOf(metrics: Metrics): Promise<Totals> {
  const found = Object.entries(TOTALS).map(async ([name, of]) => [name, await of(metrics)] as const);
  return Object.fromEntries(await Promise.all(found)) as Totals;
}

/** All that a rule of a sign may look at. */
interface Figures extends OwnFigures {
  metrics: Metrics;
  /** Seconds since 1970, by the clock of the service. */
  seconds: number;
  /** How much a total has risen within the last minutes. */
  rise(name: keyof Totals, minutes: number): number;
}

interface Rule extends Pick<Alarm, 'kind' | 'level'> {
  /** Minutes for which it must be so, as `for` of an alert. */
  minutes: number;
  /** Whether it is so: the sentence that tells it, or false. */
  text(figures: Figures): Promise<string | false> | string | false;
}

const MINUTE = 60;
const HOUR = 3600;

/** The rules, each with the threshold of its alert. */
const RULES: readonly Rule[] = [
  {
    kind: 'devicesSilent',
    level: 'warning',
    minutes: 1,
    text: ({ silentSeconds }) =>
      silentSeconds > 5 * MINUTE &&
      `A device is connected and has not acknowledged a command for ${lasting(silentSeconds)}.`,
  },
  {
    kind: 'devicesDeaf',
    level: 'warning',
    minutes: 5,
    text: async ({ metrics }) => {
      const count = await sum(metrics.devicesWithoutCommands);
      return count > 0 && `${counted(count, 'device is', 'devices are')} connected without a subscription to commands.`;
    },
  },
  {
    kind: 'devicesContested',
    level: 'warning',
    minutes: 0,
    text: ({ rise }) => rise('identitiesContested', 15) > 0 && 'Two devices seem to use one identity.',
  },
  {
    kind: 'devicesRefused',
    level: 'warning',
    minutes: 5,
    text: ({ rise }) => {
      const count = rise('devicesRefused', 5);
      return (
        count > 0.1 * 5 * MINUTE &&
        `${counted(count, 'connection', 'connections')} of devices were refused in 5 minutes.`
      );
    },
  },
  {
    kind: 'devicesRefused',
    level: 'warning',
    minutes: 5,
    text: ({ rise }) => {
      const count = rise('enrolmentsRefused', 5);
      return count > 0.2 * 5 * MINUTE && `${counted(count, 'enrolment was', 'enrolments were')} refused in 5 minutes.`;
    },
  },
  {
    kind: 'commandsRefused',
    level: 'warning',
    minutes: 0,
    text: ({ rise }) => {
      const count = rise('commandsRefused', 15);
      return count > 0 && `A limit has refused ${counted(count, 'command', 'commands')} in 15 minutes.`;
    },
  },
  {
    kind: 'eventsRefused',
    level: 'warning',
    minutes: 0,
    text: ({ rise }) => {
      const count = rise('eventsRefused', 15);
      return count > 0 && `A limit has refused ${counted(count, 'event', 'events')} of devices in 15 minutes.`;
    },
  },
  {
    kind: 'transfersRefused',
    level: 'warning',
    minutes: 5,
    text: ({ rise }) => {
      const count = rise('transfersRefused', 5);
      return count > 0.1 * 5 * MINUTE && `A limit has refused ${counted(count, 'transfer', 'transfers')} in 5 minutes.`;
    },
  },
  {
    kind: 'webhooksGivenUp',
    level: 'warning',
    minutes: 0,
    text: ({ rise }) => {
      const count = rise('webhooksGivenUp', 60);
      return count > 0 && `${counted(count, 'webhook was', 'webhooks were')} given up within an hour.`;
    },
  },
  ...CONSUMER_LEVELS.map(
    ([state, level]): Rule => ({
      kind: 'consumersBehind',
      level,
      minutes: 5,
      text: ({ consumers }) => consumersText(state, consumers),
    }),
  ),
  {
    kind: 'apiFaults',
    level: 'critical',
    minutes: 5,
    text: ({ rise }) => {
      const [faults, calls] = [rise('apiFaults', 5), rise('apiCalls', 5)];
      return faults > 0.02 * calls && `${percent(faults, calls)} of the calls of the last 5 minutes were answered 5xx.`;
    },
  },
  {
    kind: 'apiSlow',
    level: 'warning',
    minutes: 10,
    text: ({ rise }) => {
      const [slow, calls] = [rise('apiSlow', 5), rise('apiCalls', 5)];
      return slow > 0.01 * calls && `${percent(slow, calls)} of the calls of the last 5 minutes took over a second.`;
    },
  },
  {
    kind: 'commitsSlow',
    level: 'warning',
    minutes: 5,
    text: ({ commitP99Ms }) =>
      (commitP99Ms ?? 0) > 250 && `One of a hundred commits of the database takes ${Math.round(commitP99Ms ?? 0)} ms.`,
  },
  {
    kind: 'loopSlow',
    level: 'warning',
    minutes: 5,
    text: ({ loopP99Ms }) =>
      (loopP99Ms ?? 0) > 250 && `All work waits up to ${Math.round(loopP99Ms ?? 0)} ms: the process is overloaded.`,
  },
  {
    kind: 'memoryLow',
    level: 'warning',
    minutes: 10,
    text: ({ heapShare }) => heapShare > 0.9 && `${percent(heapShare, 1)} of the memory for objects is in use.`,
  },
  {
    kind: 'connectionsNearBound',
    level: 'warning',
    minutes: 5,
    text: async ({ metrics }) => {
      const [open, most] = [await sum(metrics.mqttConnections), await sum(metrics.mqttConnectionsLimit)];
      return (
        most > 0 &&
        open > 0.9 * most &&
        `${counted(open, 'connection', 'connections')} of devices of at most ${most} are open.`
      );
    },
  },
  {
    kind: 'messagesWait',
    level: 'warning',
    minutes: 5,
    text: async ({ metrics }) => {
      const count = await sum(metrics.mqttMessagesWaiting);
      return count > 1000 && `${counted(count, 'message', 'messages')} of devices wait for the database.`;
    },
  },
  {
    kind: 'hintsDropped',
    level: 'warning',
    minutes: 5,
    text: ({ rise }) =>
      rise('hintsDropped', 5) > 5 * MINUTE && 'Messages between the nodes are lost: work begins late.',
  },
  {
    kind: 'numbersRaised',
    level: 'warning',
    minutes: 0,
    text: ({ rise }) =>
      rise('numbersRaised', 60) > 0 && 'The database is another one than before: it was copied or restored.',
  },
  {
    kind: 'removalStopped',
    level: 'warning',
    minutes: 10,
    text: async ({ metrics, seconds }) => {
      const since = seconds - (await sum(metrics.removalProgress));
      if ((await sum(metrics.removalsRunning)) === 0 || since < 30 * MINUTE) return false;
      return `A removal of a developer or an application has not gone on for ${lasting(since)}.`;
    },
  },
  {
    kind: 'retention',
    level: 'warning',
    minutes: 10,
    text: async ({ metrics, seconds, leads }) => {
      if (!leads) return false;
      const { values } = await metrics.retentionSwept.get();
      const since = seconds - Math.min(...values.map(({ value }) => value));
      return values.length > 0 && since > 6 * HOUR && `Old rows were last looked for ${lasting(since)} ago.`;
    },
  },
  {
    kind: 'auditWaits',
    level: 'warning',
    minutes: 5,
    text: ({ auditWaitsSeconds, leads }) =>
      leads &&
      auditWaitsSeconds > 10 * MINUTE &&
      `The receiver of the audit log has not got its entries for ${lasting(auditWaitsSeconds)}.`,
  },
];

/** Looks at all rules: the sentence of each that holds now; undefined at the place of one that does not. */
export function lookAtRules(figures: Figures): Promise<(string | undefined)[]> {
  return Promise.all(RULES.map(async ({ text }) => (await text(figures)) || undefined));
}

/** The signs of rules that have held since their times, in microseconds: those that have held for long enough. */
export const signsOf = (
  texts: readonly (string | undefined)[],
  since: readonly (number | undefined)[],
  now: number,
): Sign[] =>
  RULES.flatMap(({ kind, level, minutes }, place) => {
    const [text, from] = [texts[place], since[place]];
    return text !== undefined && from !== undefined && now - from >= minutes * MINUTE * 1_000_000
      ? [{ kind, level, text }]
      : [];
  });

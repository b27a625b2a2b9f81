import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { now, skewSeconds } from '../base/clock.ts';
import { a, type Child, div, li, span, ul, use, type VNode } from '../base/elements.ts';
import { when } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import type { Alarm, AlarmList } from '../base/rows.ts';
import { alarmCount } from '../base/title.ts';
import { badge, card, id, said, type Tone } from './show.ts';

/** Milliseconds between two reads, also of a page that shows no alarms: the title of its tab counts them. */
const EVERY = 30_000;
/** Milliseconds after which alarms that were read say nothing of now any more. */
const STALE = 4 * EVERY;
/** Seconds by which the clocks of service and browser may differ. */
const SKEW = 60;

/** The alarms that were read last, with the time of the service; undefined before the first time. */
const known = signal<AlarmList | undefined>(undefined);

/** Increases when somebody comes to a page that shows the alarms: they see those of now, not of half a minute ago. */
const visits = signal(0);
const useVisit = (): void =>
  useEffect(() => {
    visits.value = visits.peek() + 1;
  }, []);

/** The alarms of the service, and whether its clock is that of this computer, which a service alone cannot know. */
function alarms(): readonly Alarm[] {
  const found = known.value?.alarms ?? [];
  const skew = Math.abs(skewSeconds.value);
  if (skew < SKEW || found.some(({ kind }) => kind === 'clock')) return found;
  const text = `The clocks of the service and of this computer differ by ${Math.round(skew)} seconds.`;
  return [...found, { kind: 'clock', level: 'warning', text, nodeId: null }];
}

type Verdict = AlarmList['verdict'];

/** The verdict of the service. What was read minutes ago is none: the service may be gone since. */
function verdict(shown: readonly Alarm[]): Verdict {
  const { value } = known;
  if (!value) return { state: 'unknown', text: 'The service has not told its state yet.' };
  if (now.value - Date.parse(value.at) > STALE)
    return { state: 'unknown', text: `The service has not told its state since ${when(value.at)}.` };
  if (value.verdict.state === 'well' && shown.some(({ level }) => level !== 'info'))
    return { state: 'attention', text: 'One thing must be looked at; the service does its work.' };
  return value.verdict;
}

const STATES: Record<Verdict['state'], readonly [tone: Tone, words: string]> = {
  well: ['good', 'all is well'],
  attention: ['warn', 'look at it'],
  critical: ['bad', 'mend it now'],
  unknown: ['', 'not known'],
};
const LEVELS: Record<Alarm['level'], Tone> = { critical: 'bad', warning: 'warn', info: 'calm' };

const HEALTH = (): string => addressOf(['health']);
const DEVICES = (): string => addressOf(['devices']);
const COMMANDS = (): string => addressOf(['transactions'], { unfinished: 'true' });
/** Where a condition is mended, or where one sees more of it. */
const PLACES: Record<Alarm['kind'], () => string> = {
  part: HEALTH,
  node: HEALTH,
  clock: HEALTH,
  database: HEALTH,
  disk: HEALTH,
  certificate: HEALTH,
  retention: HEALTH,
  people: () => addressOf(['people']),
  devicesGone: () => addressOf(['devices'], { connected: 'false' }),
  devicesSilent: COMMANDS,
  devicesDeaf: () => addressOf(['devices'], { connected: 'true' }),
  devicesContested: () => addressOf(['devices'], { connected: 'true' }),
  devicesRefused: DEVICES,
  commandsOld: COMMANDS,
  commandsRefused: () => addressOf(['transactions']),
  eventsRefused: DEVICES,
  transfersRefused: () => addressOf(['software']),
  rolloutsStopped: () => addressOf(['rollouts'], { state: 'paused' }),
  webhooksLate: () => addressOf(['webhooks']),
  webhooksGivenUp: () => addressOf(['webhooks']),
  receivers: () => addressOf(['webhooks'], { state: 'failing' }),
  consumersBehind: () => addressOf(['developers']),
  apiFaults: HEALTH,
  apiSlow: HEALTH,
  commitsSlow: HEALTH,
  loopSlow: HEALTH,
  memoryLow: HEALTH,
  connectionsNearBound: HEALTH,
  messagesWait: HEALTH,
  hintsDropped: HEALTH,
  numbersRaised: () => addressOf(['audit']),
  removalStopped: () => addressOf(['developers']),
  auditWaits: () => addressOf(['audit']),
};

const list = (shown: readonly Alarm[]): VNode =>
  ul(
    { class: 'stack tight', 'aria-label': 'Alarms' },
    shown.map((alarm, index) =>
      li(
        { key: index, class: 'row alarm' },
        badge(LEVELS[alarm.level], alarm.level),
        a({ href: PLACES[alarm.kind]() }, said(alarm.text)),
        alarm.nodeId === null ? null : id(alarm.nodeId),
      ),
    ),
  );

function Watch(): Child {
  const load = useLoad('alarms', (signal) => read<AlarmList>(operation('listAlarms'), { signal }), { every: EVERY });
  const { value } = load.state.value;
  const { value: visit } = visits;
  useEffect(() => {
    if (known.peek()) load.again();
  }, [visit]);
  useEffect(() => {
    if (value) known.value = value;
  }, [value]);
  const count = alarms().filter(({ level }) => level !== 'info').length;
  useEffect(() => {
    alarmCount.value = count;
    return () => {
      alarmCount.value = 0;
    };
  }, [count]);
  return null;
}

/** Reads the alarms as long as somebody is signed in, and counts them in the title of the tab. */
export const alarmsHere = (): VNode => use(Watch, {});

function Judged(): Child {
  useVisit();
  const shown = alarms();
  const { state, text } = verdict(shown);
  const [tone, words] = STATES[state];
  return card(
    { title: 'Verdict' },
    div(
      { class: 'stack tight' },
      div({ class: 'row alarm', role: 'status' }, badge(tone, words), span({ class: 'verdict' }, said(text))),
      shown.length > 0 ? list(shown) : null,
    ),
  );
}

/** How the service is, in a sentence, with its reasons, each of which leads to the place where it is mended. */
export const judged = (): VNode => use(Judged, {});

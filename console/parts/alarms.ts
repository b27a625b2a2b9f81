import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { skewSeconds } from '../base/clock.ts';
import { a, type Child, div, li, span, ul, use, type VNode } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import type { Alarm } from '../base/rows.ts';
import { alarmCount } from '../base/title.ts';
import { badge, card, id, said } from './show.ts';

/** Milliseconds between two reads, also of a page that shows no alarms: the title of its tab counts them. */
const EVERY = 30_000;
/** Seconds by which the clocks of service and browser may differ. */
const SKEW = 60;

/** The alarms that were read last; undefined before the first time. */
const known = signal<readonly Alarm[] | undefined>(undefined);

/** Increases when somebody comes to a page that shows the alarms: they see those of now, not of half a minute ago. */
const visits = signal(0);
const useVisit = (): void =>
  useEffect(() => {
    visits.value = visits.peek() + 1;
  }, []);

/** The alarms of the service, and whether its clock is that of this computer, which a service alone cannot know. */
function alarms(): readonly Alarm[] {
  const found = known.value ?? [];
  const skew = Math.abs(skewSeconds.value);
  if (skew < SKEW || found.some(({ kind }) => kind === 'clock')) return found;
  const text = `The clocks of the service and of this computer differ by ${Math.round(skew)} seconds.`;
  return [...found, { kind: 'clock', level: 'warning', text, nodeId: null }];
}

/** Where an alarm is mended, or where one sees more of it. */
const placeOf = ({ kind }: Alarm): string =>
  kind === 'receivers' ? addressOf(['webhooks'], { state: 'failing' }) : addressOf(['health']);

const list = (shown: readonly Alarm[]): VNode =>
  ul(
    { class: 'stack tight', 'aria-label': 'Alarms' },
    shown.map((alarm, index) =>
      li(
        { key: index, class: 'row' },
        badge(alarm.level === 'critical' ? 'bad' : 'warn', alarm.level),
        a({ href: placeOf(alarm) }, said(alarm.text)),
        alarm.nodeId === null ? null : id(alarm.nodeId),
      ),
    ),
  );

function Watch(): Child {
  const load = useLoad(
    'alarms',
    async (signal) => (await read<{ alarms: Alarm[] }>(operation('listAlarms'), { signal })).alarms,
    { every: EVERY },
  );
  const { value } = load.state.value;
  const { value: visit } = visits;
  useEffect(() => {
    if (known.peek()) load.again();
  }, [visit]);
  useEffect(() => {
    if (value) known.value = value;
  }, [value]);
  const count = alarms().length;
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

function Ringing(): Child {
  useVisit();
  const shown = alarms();
  return shown.length === 0 ? null : card({ title: 'Alarms' }, list(shown));
}

/** The alarms; nothing when all is well. */
export const ringing = (): VNode => use(Ringing, {});

function All(): Child {
  useVisit();
  const shown = alarms();
  if (shown.length > 0) return card({ title: 'Alarms' }, list(shown));
  const words = known.value ? 'Nothing must be mended.' : 'The alarms are not known yet.';
  return card(
    { title: 'Alarms' },
    div({ class: 'row' }, known.value ? badge('good', 'all is well') : null, span({ class: 'soft' }, words)),
  );
}

/** The alarms, or the word that there are none. */
export const allAlarms = (): VNode => use(All, {});
